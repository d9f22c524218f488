import type { Pagination } from '../../../src/contract/fields.ts'

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[]
  readonly pagination: Pagination
}

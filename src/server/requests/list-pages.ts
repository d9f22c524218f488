import { MAX_PAGE, paginationOf, queryNumber } from './fields.ts'

export const pageQuery = {
  page: queryNumber(1, MAX_PAGE).optional(),
  per_page: queryNumber(1, 100).optional(),
}

export interface PageFields {
  readonly page: number
  readonly perPage: number
}

const PER_PAGE = 20

export function pageFields(query: { readonly page?: number; readonly per_page?: number }): PageFields {
  return { page: query.page ?? 1, perPage: query.per_page ?? PER_PAGE }
}

export function toList<Item>({ page, perPage }: PageFields, data: readonly Item[], total: number) {
  return { success: true as const, data, pagination: paginationOf(page, perPage, total) }
}

import { z } from '@hono/zod-openapi'
import { timestamp } from '../../../domain/clock.ts'
import { MAX_PAGE, pagination, paginationOf, queryNumber } from '../fields.ts'

/** What the lists of administrators have in common. */

export const pageQuery = {
  page: queryNumber(1, MAX_PAGE).optional(),
  per_page: queryNumber(1, 100).optional(),
}

export interface Page {
  readonly page: number
  readonly perPage: number
}

const PER_PAGE = 20

export function pageOf(query: { readonly page?: number; readonly per_page?: number }): Page {
  return { page: query.page ?? 1, perPage: query.per_page ?? PER_PAGE }
}

export function listOf<S extends z.ZodType>(item: S) {
  return z.object({ success: z.literal(true), data: z.array(item), pagination })
}

export function toList<Item>({ page, perPage }: Page, data: readonly Item[], total: number) {
  return { success: true, data, pagination: paginationOf(page, perPage, total) }
}

export const optionalTime = (time: number | null) => (time === null ? null : timestamp(time))

export const sizeField = z.number().int().openapi({ description: 'Bytes' })

/** Whose it is. */
export const owner = z.object({ id: z.number().int(), username: z.string() }).openapi('Owner')

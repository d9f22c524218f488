import { z } from '@hono/zod-openapi'
import { MAX_PAGE, queryNumber } from '../server/requests/fields.ts'

export const listQuery = {
  page: queryNumber(1, MAX_PAGE).optional(),
  per_page: queryNumber(1, 100).optional(),
  search: z.string().optional().openapi({ description: 'Part of the name, in upper or lower case' }),
  sort: z.enum(['created_at', 'name', 'size', 'downloads']).optional().openapi({
    description: 'By name: naturally, so "file 2" before "file 10", without regard to case and accents',
  }),
  order: z.enum(['asc', 'desc']).optional(),
}

type ListQuery = z.infer<z.ZodObject<typeof listQuery>>

export function listed({
  page = 1,
  per_page = 20,
  search = '',
  sort = 'created_at',
  order = 'desc',
}: ListQuery) {
  return { page, perPage: per_page, search, sort, order }
}

import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import { errorCodes } from '../errors.ts'

/** The parts that requests and answers of the JSON API are made of. */

export const timestampField = z
  .string()
  .openapi({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' })

export const optionalTimestamp = timestampField.nullable().openapi({ type: ['string', 'null'] })

export const fileIdentifier = z
  .union([z.string(), z.number().int().min(0)], 'must be a file identifier: a slug, a UUID or a number')
  .transform(String)
  .openapi({ type: ['string', 'integer'], description: 'Slug, UUID or numeric id' })

export const folderPlace = z
  .string('must be a folder identifier or "root"')
  .nullish()
  .openapi({ description: 'Folder identifier; "root", empty, null or missing mean the top level' })

export const identifierParameter = z.object({
  identifier: z.string().openapi({ description: 'Folder identifier' }),
})

/** What one request may name. */
export const BATCH = 200

/** What the OpenAPI document says of a PATCH. */
export const READ_ONLY_ALLOWED =
  'What changes. Other fields that the resource has are ignored, so that it may be sent back as it came; a field that it does not have is refused'

/** Throws Refusal UNKNOWN_FIELD: what a program believes to be changed must not be passed over in silence. */
export function assertKnownFields(body: object, known: readonly string[]): void {
  const unknown = Object.keys(body).find((field) => !known.includes(field))
  if (unknown === undefined) return
  throw new Refusal('UNKNOWN_FIELD', `"${unknown.slice(0, 100)}": there is no such field to change`)
}

/** Up to 200 identifiers, at least one. */
export function batch<S extends z.ZodType>(item: S) {
  return z
    .array(item, 'must be a list of identifiers')
    .min(1, 'must hold at least one identifier')
    .max(BATCH, `may hold ${BATCH} identifiers at most`)
}

/** Some of both kinds, together at least one and at most as many as a batch may have. */
export const filesAndFolders = z
  .object({
    files: z.array(fileIdentifier, 'must be a list of identifiers').optional(),
    folders: z.array(z.string('must be a folder identifier'), 'must be a list of identifiers').optional(),
  })
  .refine(({ files = [], folders = [] }) => files.length + folders.length > 0, {
    path: ['files'],
    message: 'must hold at least one identifier, or "folders" must',
  })
  .refine(({ files = [], folders = [] }) => files.length + folders.length <= BATCH, {
    path: ['files'],
    message: `may hold ${BATCH} identifiers at most, together with "folders"`,
  })

/** A whole number in a query string. */
export function queryNumber(least: number, most: number) {
  const allowed = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, allowed)
    .transform(Number)
    .pipe(z.number().min(least, allowed).max(most, allowed))
    .openapi({ type: 'integer', minimum: least, maximum: most })
}

export const MAX_PAGE = 1_000_000_000

export const success = z.boolean().openapi({ description: 'Whether all of the request was done' })

export const errorBody = z
  .object({ success: z.literal(false), message: z.string(), error: z.enum(errorCodes) })
  .openapi('Error')

export const pagination = z
  .object({
    page: z.number().int(),
    per_page: z.number().int(),
    total: z.number().int(),
    pages: z.number().int(),
  })
  .openapi('Pagination')

/** The pagination object of a page. `pages` is ⌈total / per_page⌉. */
export function paginationOf(page: number, perPage: number, total: number): z.infer<typeof pagination> {
  return { page, per_page: perPage, total, pages: Math.ceil(total / perPage) }
}

/** The same of a search whose hits may not all have been counted. */
export const boundedPagination = pagination
  .extend({
    total_exact: z.boolean().optional().openapi({
      description: 'With "totals=bounded": whether there are no more than "total"',
    }),
  })
  .openapi('BoundedPagination')

export const dataOf = <S extends z.ZodType>(schema: S) => z.object({ success: z.literal(true), data: schema })

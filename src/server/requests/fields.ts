import { z } from '@hono/zod-openapi'
import type { Pagination } from '../../contract/fields.ts'
import { Refusal } from '../../domain/errors.ts'
import { type RowId, toRowId, wholeNumber } from '../../domain/ids.ts'
import { LONGEST_SHARED_PASSWORD } from '../../domain/password-grade.ts'
import { boundedNfc } from '../../domain/text.ts'

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

export const MOST_OF_BATCH = 200

export const READ_ONLY_ALLOWED =
  'What changes, at least one field. Other fields that the resource has are ignored, so that it may be sent back as it came; a field that it does not have is refused'

/** Throws Refusal UNKNOWN_FIELD: a program must not believe that an ignored field was changed. */
export function assertKnownFields(body: object, known: readonly string[]): void {
  const unknown = Object.keys(body).find((field) => !known.includes(field))
  if (unknown === undefined) return
  throw unknownField(unknown)
}

/**
 * `assertKnownFields` for PATCH; also throws Refusal INVALID_REQUEST for an empty body, in which a program lost its
 * change. Read-only fields alone are allowed: they change nothing.
 */
export function assertChange(body: object, known: readonly string[]): void {
  if (Object.keys(body).length === 0) throw nothingToChange()
  assertKnownFields(body, known)
}

export function nothingToChange(): Refusal {
  return new Refusal('INVALID_REQUEST', 'The body names no field; send those that are to change')
}

export function unknownField(name: string): Refusal {
  return new Refusal('UNKNOWN_FIELD', `"${name.slice(0, 100)}": there is no such field`)
}

/** 1 to 200 items. `of`: their name in messages. */
export function batch<S extends z.ZodType>(item: S, of: 'identifier' | 'receipt' = 'identifier') {
  return z
    .array(item, `must be a list of ${of}s`)
    .min(1, `must hold at least one ${of}`)
    .max(MOST_OF_BATCH, `may hold ${MOST_OF_BATCH} ${of}s at most`)
}

export function identifiersOf<S extends z.ZodType>(item: S) {
  return z.array(item, 'must be a list of identifiers').min(1, 'must hold at least one identifier')
}

export const filesAndFolders = z
  .object({
    files: z.array(fileIdentifier, 'must be a list of identifiers').optional(),
    folders: z.array(z.string('must be a folder identifier'), 'must be a list of identifiers').optional(),
  })
  .refine(({ files = [], folders = [] }) => files.length + folders.length > 0, {
    path: ['files'],
    message: 'must hold at least one identifier, or "folders" must',
  })
  .refine(({ files = [], folders = [] }) => files.length + folders.length <= MOST_OF_BATCH, {
    path: ['files'],
    message: `may hold ${MOST_OF_BATCH} identifiers at most, together with "folders"`,
  })

export function queryNumber(least: number, most: number) {
  const allowed = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .transform((text) => wholeNumber(text) ?? Number.NaN)
    .pipe(z.number(allowed).min(least, allowed).max(most, allowed))
    .openapi({ type: 'integer', minimum: least, maximum: most })
}

export const MAX_PAGE = 1_000_000_000

/** `pages` is ⌈total / per_page⌉. */
export function paginationOf(page: number, perPage: number, total: number): Pagination {
  return { page, per_page: perPage, total, pages: Math.ceil(total / perPage) }
}

export const rowId = z
  .string()
  .regex(/^\d{1,15}$/)
  .openapi({ example: '42' })

/** The id of a row in an address; 0, which no row has, for anything else. */
export function parseRowId<Id extends RowId>(text: string | undefined): Id {
  return toRowId(wholeNumber(text) ?? 0)
}

/** Half of a surrogate pair would be hashed as U+FFFD, and so match any other half. */
const password = z
  .string('must be text')
  .refine(
    (text) => boundedNfc(text, LONGEST_SHARED_PASSWORD) !== null,
    `may have ${LONGEST_SHARED_PASSWORD} characters at most`,
  )
  .refine((text) => text.isWellFormed(), 'must be valid Unicode')

/** For shared content; empty and null mean none. */
export const newPassword = password.nullish().transform((text) => (text === '' ? null : text))

/** An empty one is a mistake: it would open what was to be closed. */
export const neededPassword = password
  .min(1, 'must not be empty; leave it out, or send null, for none')
  .nullish()

export const bodyTime = z.iso.datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z' })

/** For re-authentication; missing for an account without a password. */
export const presentPassword = z.string('must be the password of your account').max(1000).nullish().openapi({
  description: 'The present password; not needed within ten minutes of the last proof that it is you',
})

export const pageQuery = {
  page: queryNumber(1, MAX_PAGE).optional(),
  per_page: queryNumber(1, 100).optional(),
}

interface PageFields {
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

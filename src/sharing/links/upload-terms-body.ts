import { z } from '@hono/zod-openapi'
import {
  ASKED_FIELDS,
  MOST_FILES,
  MOST_TYPES,
  parseAcceptedType,
  type UploadTerms,
} from '../../domain/upload-terms.ts'

const count = (most: number) => {
  const allowed = `must be a whole number from 1 to ${most}`
  return z.int(allowed).min(1, allowed).max(most, allowed).nullish()
}

const MOST_BYTES = Number.MAX_SAFE_INTEGER

const asked = z.enum(['optional', 'required'], 'must be "optional" or "required"').nullish()

const readOnly = z.int().optional().openapi({ example: 12, description: 'Read-only' })

export const uploadsBody = z
  .strictObject({
    max_files: count(MOST_FILES).openapi({
      example: 500,
      description: `How many files it takes; ${MOST_FILES} without it`,
    }),
    max_size: count(MOST_BYTES).openapi({
      example: 1_000_000_000,
      description: 'Bytes of all files together',
    }),
    max_file_size: count(MOST_BYTES).openapi({ example: 20_000_000, description: 'Bytes of each file' }),
    types: z
      .array(
        z.string('must be text').transform((text, context) => {
          const type = parseAcceptedType(text)
          if (type !== null) return type
          context.addIssue({
            code: 'custom',
            message: 'must be an extension such as ".pdf" or a type such as "image/*"',
          })
          return z.NEVER
        }),
        'must be a list',
      )
      .max(MOST_TYPES, `may hold ${MOST_TYPES} types at most`)
      .nullish()
      .openapi({
        type: 'array',
        items: { type: 'string', example: '.pdf' },
        example: ['.pdf', 'image/*'],
        description: 'Extensions and media types that it takes, told by the names of files; empty: any',
      }),
    fields: z.strictObject({ sender: asked, address: asked, reference: asked }).nullish().openapi({
      description:
        'What contributors are asked for: "sender" their name, "address" their mail address, "reference" a word or number that you know; each "optional" or "required"',
    }),
    received_files: readOnly,
    received_size: readOnly,
  })
  .nullish()
  .openapi({
    description:
      'With it the link takes uploads into its one folder, and opens nothing: no list, no content, no previews',
  })

export function uploadTermsOf(body: NonNullable<z.output<typeof uploadsBody>>): Partial<UploadTerms> {
  const { max_files, max_size, max_file_size, types, fields } = body
  const wanted = ASKED_FIELDS.flatMap((field) => {
    const how = fields?.[field] ?? null
    return how === null ? [] : [[field, how] as const]
  })
  return {
    ...(max_files === undefined ? {} : { maxFiles: max_files }),
    ...(max_size === undefined ? {} : { maxSize: max_size }),
    ...(max_file_size === undefined ? {} : { maxFileSize: max_file_size }),
    ...(types === undefined ? {} : { types }),
    ...(fields === undefined ? {} : { fields: Object.fromEntries(wanted) }),
  }
}

import * as z from 'zod/mini'
import { batchOf, component, described, pageOf, timestampField, uuidField } from './fields.ts'

const ofFile = { description: 'Of a file' }

export const binEntry = component(
  'BinEntry',
  z.object({
    id: z.int(),
    kind: z.enum(['file', 'folder']),
    name: z.string(),
    size: described(z.int(), { description: 'Bytes, of a folder those of all that is in it' }),
    files: described(z.int(), { description: 'How many files it is' }),
    type: described(z.nullable(z.string()), ofFile),
    uuid: described(z.nullable(uuidField), ofFile),
    slug: described(z.nullable(z.string()), ofFile),
    identifier: described(z.nullable(z.string()), { description: 'Of a folder' }),
    folder_id: described(z.nullable(z.string()), {
      description: 'The folder that it was in, or "root"; null when that is gone',
    }),
    folder_name: z.nullable(z.string()),
    binned_at: timestampField,
    expires_at: described(timestampField, { description: 'When it is deleted for good' }),
    restoring: described(z.boolean(), { description: 'Whether it is coming back' }),
  }),
)
export type BinEntry = z.infer<typeof binEntry>

export const binAnswer = pageOf(binEntry)

export const binnedAnswer = batchOf(
  z.object({
    binned: z.int(),
    failed: z.int(),
    results: z.array(
      z.object({
        file: z.optional(z.string()),
        folder: z.optional(z.string()),
        success: z.boolean(),
        entry: z.optional(z.int()),
        error: z.optional(z.string()),
      }),
    ),
  }),
)

const entryResult = z.object({ entry: z.int(), success: z.boolean(), error: z.optional(z.string()) })
export type EntryResult = z.infer<typeof entryResult>

const entryResults = z.array(entryResult)

export const restoredAnswer = batchOf(z.object({ restored: z.int(), failed: z.int(), results: entryResults }))

export const deletedFromBinAnswer = batchOf(
  z.object({ deleted: z.int(), failed: z.int(), results: entryResults }),
)

export const emptiedAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: z.object({
    deleted: z.int(),
    size: described(z.int(), { description: 'Bytes that are free again' }),
  }),
})

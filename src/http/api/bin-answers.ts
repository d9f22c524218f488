import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { BinEntryId } from '../../domain/ids.ts'
import type { BinEntry, BinOutcome } from '../../services/bin.ts'
import type { Site } from '../call.ts'
import { timestampField } from './fields.ts'

export const binEntry = z
  .object({
    id: z.number().int(),
    kind: z.enum(['file', 'folder']),
    name: z.string(),
    size: z.number().int().openapi({ description: 'Bytes, of a folder those of all that is in it' }),
    files: z.number().int().openapi({ description: 'How many files it is' }),
    type: z.string().nullable().openapi({ description: 'Of a file' }),
    uuid: z.uuid().nullable().openapi({ description: 'Of a file' }),
    slug: z.string().nullable().openapi({ description: 'Of a file' }),
    identifier: z.string().nullable().openapi({ description: 'Of a folder' }),
    folder_id: z
      .string()
      .nullable()
      .openapi({ description: 'The folder that it was in, or "root"; null when that is gone' }),
    folder_name: z.string().nullable(),
    binned_at: timestampField,
    expires_at: timestampField.openapi({ description: 'When it is deleted for good' }),
    restoring: z.boolean().openapi({ description: 'Whether it is coming back' }),
  })
  .openapi('BinEntry')

export function toBinEntry(site: Site, entry: BinEntry): z.infer<typeof binEntry> {
  return {
    id: entry.id,
    kind: entry.file_id === null ? 'folder' : 'file',
    name: entry.file_name ?? entry.folder_name ?? '',
    size: entry.bytes,
    files: entry.files,
    type: entry.file_type,
    uuid: entry.file_uuid,
    slug: entry.file_slug,
    identifier: entry.folder_identifier,
    folder_id: entry.placeIsThere ? (entry.place_identifier ?? 'root') : null,
    folder_name: entry.place_identifier === null ? null : entry.place_name,
    binned_at: timestamp(entry.binned_at),
    expires_at: timestamp(site.services.bin.expiresAt(entry)),
    restoring: entry.restoring === 1,
  }
}

/** What became of each of several entries. */
export const entryResults = z.array(
  z.object({ entry: z.number().int(), success: z.boolean(), error: z.string().optional() }),
)

export function toEntryResults(entries: readonly BinEntryId[], outcomes: readonly BinOutcome[]) {
  const results = entries.map((entry, index) => {
    const outcome = outcomes[index]
    return outcome?.done === true
      ? { entry, success: true }
      : { entry, success: false, error: outcome?.error }
  })
  const done = outcomes.filter((outcome) => outcome.done).length
  return { done, failed: results.length - done, results }
}

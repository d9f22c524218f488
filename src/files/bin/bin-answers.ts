import type { BinEntry as BinEntryAnswer, EntryResult } from '../../contract/bin.ts'
import { timestamp } from '../../domain/clock.ts'
import type { BinEntryId } from '../../domain/ids.ts'
import type { Bin, BinEntry, BinOutcome } from './bin.ts'

export function toBinEntry(bin: Pick<Bin, 'expiresAt'>, entry: BinEntry): BinEntryAnswer {
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
    expires_at: timestamp(bin.expiresAt(entry)),
    restoring: entry.restoring === 1,
  }
}

export function toEntryResults(entries: readonly BinEntryId[], outcomes: readonly BinOutcome[]) {
  const results = entries.map((entry, index): EntryResult => {
    const outcome = outcomes[index]
    return outcome?.done === true
      ? { entry, success: true }
      : { entry, success: false, error: outcome?.error }
  })
  const done = outcomes.filter((outcome) => outcome.done).length
  return { done, failed: results.length - done, results }
}

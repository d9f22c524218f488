import type { Database } from '../database/database.ts'
import type { BlobKey, FileId, UploadId } from '../domain/ids.ts'
import { findFile } from '../files/files.rows.ts'
import { awaitedParts, awaitsParts } from './resumable/awaited-parts.ts'
import { partsOf } from './resumable/upload-parts.rows.ts'
import { type UploadRow, uploadById } from './uploads.rows.ts'

/** A blob with bytes of an upload: the upload's own, or that of one of the parts that it is made of. */
export interface ArrivedPiece {
  readonly key: BlobKey
  /** Where its first byte is in the file. */
  readonly start: number
  /** Bytes of it that are durable. */
  readonly received: number
}

/** How far an upload is: `there` once it has become a file, `gone` when it never will. */
export type Arrival =
  | {
      readonly kind: 'arriving'
      /** Null while it is not known: then there is one piece at most. */
      readonly size: number | null
      /** In their order. */
      readonly pieces: readonly ArrivedPiece[]
    }
  | { readonly kind: 'there'; readonly file: FileId; readonly key: BlobKey; readonly size: number }
  | { readonly kind: 'gone' }

const GONE: Arrival = { kind: 'gone' }

/** Of an upload that is no part of another one. */
export async function arrivalOf(db: Database, id: UploadId): Promise<Arrival> {
  const row = await uploadById(db, id)
  if (row === undefined) return GONE
  if (row.state === 'completed') return fileOf(db, row)
  if (row.ended_at !== null) return GONE
  if (row.kind !== 'final') return arriving(row, [row])
  if (!awaitsParts(row)) return arriving(row, await partsOf(db, id))
  const parts = await awaitedParts(db, row)
  if (parts !== null) return arriving(row, parts)
  // Somebody may have joined them since the row was read. Otherwise one of them is gone, and nobody may have noted it yet.
  const present = await uploadById(db, id)
  return present === undefined || awaitsParts(present) ? GONE : arrivalOf(db, id)
}

async function fileOf(db: Database, { file_id: id }: UploadRow): Promise<Arrival> {
  const file = id === null ? undefined : await findFile(db, { kind: 'id', id })
  return file === undefined ? GONE : { kind: 'there', file: file.id, key: file.blob_key, size: file.size }
}

function arriving({ size }: UploadRow, rows: readonly UploadRow[]): Arrival {
  let start = 0
  const pieces = rows.map((row) => {
    const piece = { key: row.key, start, received: row.received }
    start += row.size ?? 0
    return piece
  })
  return { kind: 'arriving', size, pieces }
}

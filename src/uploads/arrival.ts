import type { Arrival } from '../core/arrival.ts'
import type { Database } from '../database/database.ts'
import type { UploadId } from '../domain/ids.ts'
import { findFile } from '../files/files.rows.ts'
import { awaitedParts, awaitsParts } from './resumable/awaited-parts.ts'
import { partsOf } from './resumable/upload-parts.rows.ts'
import { type UploadRow, uploadById } from './uploads.rows.ts'

const GONE: Arrival = { kind: 'gone' }

/** Of an upload that is no part of another one. */
export async function arrivalOf(db: Database, id: UploadId): Promise<Arrival> {
  const row = await uploadById(db, id)
  if (row === undefined) return GONE
  if (row.state === 'completed') return fileOf(db, row)
  if (row.ended_at !== null) return GONE
  const rows = await arrivingRows(db, row)
  if (rows !== null) return arriving(row, rows)
  // Somebody may have joined them since the row was read. Otherwise one of them is gone, and nobody may have noted it yet.
  const present = await uploadById(db, id)
  return present === undefined || awaitsParts(present) ? GONE : arrivalOf(db, id)
}

/** Rows of what the upload is made of: its own, or those of its parts in their order; null when one of them is gone. */
export async function arrivingRows(db: Database, row: UploadRow): Promise<UploadRow[] | null> {
  if (row.kind !== 'final') return [row]
  return awaitsParts(row) ? awaitedParts(db, row) : partsOf(db, row.id)
}

async function fileOf(db: Database, { file_id: id }: UploadRow): Promise<Arrival> {
  const file = id === null ? undefined : await findFile(db, { kind: 'id', id })
  return file === undefined ? GONE : { kind: 'there', file: file.id, key: file.blob_key, size: file.size }
}

function arriving({ size }: UploadRow, rows: readonly UploadRow[]): Arrival {
  let start = 0
  const pieces = rows.map((row) => {
    const { key, received, state } = row
    const piece = { key, start, received, progress: state === 'completed' ? null : row.progress }
    start += row.size ?? 0
    return piece
  })
  return { kind: 'arriving', size, pieces }
}

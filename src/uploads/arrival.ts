import type { Arrival } from '../core/arrival.ts'
import type { Database } from '../database/database.ts'
import type { UploadId } from '../domain/ids.ts'
import { findFile } from '../files/files.rows.ts'
import { awaitedParts, awaitsParts } from './resumable/awaited-parts.ts'
import { partsOf } from './resumable/upload-parts.rows.ts'
import { type UploadRow, uploadById } from './uploads.rows.ts'

const GONE: Arrival = { kind: 'gone' }

export async function arrivalOf(db: Database, id: UploadId): Promise<Arrival> {
  const row = await uploadById(db, id)
  if (row === undefined) return GONE
  if (row.state === 'completed') return fileOf(db, row)
  if (row.ended_at !== null) return GONE
  const rows = await arrivingRows(db, row)
  if (rows !== null) return arriving(row, rows)
  // The parts may have been joined since the row was read. Otherwise one is gone, perhaps not recorded yet.
  const present = await uploadById(db, id)
  return present === undefined || awaitsParts(present) ? GONE : arrivalOf(db, id)
}

/** The upload's row, or those of its partial uploads in order; null when one is gone. */
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

import type { Database } from '../database/database.ts'
import type { FileId, UploadId } from '../domain/ids.ts'
import { uploadById } from './uploads.rows.ts'

/** How far an upload is: `there` once it has become a file, `gone` when it never will. */
export type Arrival =
  | { readonly kind: 'arriving'; readonly received: number }
  | { readonly kind: 'there'; readonly size: number; readonly file: FileId }
  | { readonly kind: 'gone' }

/** Of an upload that is no part of another one. `received`: bytes that are durable. */
export async function arrivalOf(db: Database, id: UploadId): Promise<Arrival> {
  const row = await uploadById(db, id)
  if (row?.state === 'completed' && row.file_id !== null && row.size !== null) {
    return { kind: 'there', size: row.size, file: row.file_id }
  }
  if (row === undefined || row.ended_at !== null) return { kind: 'gone' }
  return { kind: 'arriving', received: row.received }
}

import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { Refusal } from '../../domain/errors.ts'
import { type UploadRow, uploadById } from '../uploads.rows.ts'
import { awaitedParts, awaitsParts, finalOf } from './awaited-parts.ts'
import { abandonUpload, deleteUnclaimed } from './upload-endings.ts'
import { beginProcessing, claimPart } from './upload-parts.rows.ts'

export function sizeOfParts(parts: readonly UploadRow[]): number {
  if (parts.length === 0) throw new Refusal('INVALID_REQUEST', 'A final upload is made of at least one part')
  if (new Set(parts.map(({ id }) => id)).size < parts.length) {
    throw new Refusal('INVALID_REQUEST', 'A part may be named only once')
  }
  for (const part of parts) {
    if (part.kind !== 'partial') throw new Refusal('INVALID_REQUEST', 'Only partial uploads can be joined')
    if (part.size === null || part.ended_at !== null || part.joined_into !== null) throw notWhole()
  }
  return parts.reduce((sum, part) => sum + (part.size ?? 0), 0)
}

export function areWhole(parts: readonly UploadRow[]): boolean {
  return parts.every(({ state }) => state === 'completed')
}

/** Passes on their reservations, and begins processing. Throws Refusal OFFSET_CONFLICT for a claimed part. */
export async function claimParts(
  db: Database,
  final: UploadRow,
  parts: readonly UploadRow[],
  size: number,
): Promise<UploadRow> {
  try {
    return await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      // A concurrent repetition of the request may have claimed them for this row, or deleted it.
      if ((await uploadById(trx, final.id))?.state !== 'uploading') throw notWhole()
      for (const [position, part] of parts.entries()) {
        if (!(await claimPart(trx, part, final, position))) throw notWhole()
      }
      const usedAt = Math.max(final.used_at, ...parts.map(({ used_at }) => used_at))
      await beginProcessing(trx, final.id, size, usedAt)
      return (await uploadById(trx, final.id)) ?? final
    })
  } catch (error) {
    // A claim whose answer was lost may have committed. One that waited for its parts can claim them later.
    if (!awaitsParts(final)) await deleteUnclaimed(db, final)
    throw error
  }
}

/** Throws Refusal UPLOAD_GONE, and ends the upload, when parts will never come. */
export async function joinedIfWhole(db: Database, upload: UploadRow, now: number): Promise<UploadRow> {
  if (!awaitsParts(upload)) return upload
  const parts = await awaitedParts(db, upload)
  if (parts !== null && !areWhole(parts)) return upload
  try {
    if (parts === null) throw partLost()
    return await claimParts(db, upload, parts, sizeOfParts(parts))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // A concurrent request may have claimed them.
    const present = await uploadById(db, upload.id)
    if (present !== undefined && present.state !== 'uploading' && present.state !== 'failed') return present
    await abandonUpload(db, upload, 'UPLOAD_GONE', now)
    throw partLost()
  }
}

/** The final upload, if this was its last awaited part. */
export async function joinedByLast(db: Database, part: UploadRow, now: number): Promise<UploadRow | null> {
  const final = await finalOf(db, part)
  return final === null ? null : joinedIfWhole(db, final, now)
}

function partLost(): Refusal {
  return new Refusal('UPLOAD_GONE', 'A part of this upload is gone; start it again')
}

function notWhole(): Refusal {
  return new Refusal(
    'OFFSET_CONFLICT',
    'A part has no length yet, has ended, or belongs to another upload already',
  )
}

import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { Refusal } from '../../domain/errors.ts'
import { type UploadRow, uploadById } from '../uploads.rows.ts'
import { awaitedParts, awaitsParts, finalOf } from './awaited-parts.ts'
import { abandonUpload, deleteUnclaimed } from './upload-endings.ts'
import { beginProcessing, claimPart } from './upload-parts.rows.ts'

/**
 * The bytes of the parts together, once all of them have come. Throws Refusal INVALID_REQUEST or OFFSET_CONFLICT for what
 * cannot be concatenated.
 */
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

/**
 * Makes the parts, with their reservations, those of the final upload, which is processing then. Each can be used once.
 * Throws Refusal OFFSET_CONFLICT when one of them was used meanwhile.
 */
export async function claimParts(
  db: Database,
  final: UploadRow,
  parts: readonly UploadRow[],
  size: number,
): Promise<UploadRow> {
  try {
    return await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      // The same request, repeated at once, may have claimed them for this row, or dropped it.
      if ((await uploadById(trx, final.id))?.state !== 'uploading') throw notWhole()
      for (const [position, part] of parts.entries()) {
        if (!(await claimPart(trx, part, final, position))) throw notWhole()
      }
      const usedAt = Math.max(final.used_at, ...parts.map(({ used_at }) => used_at))
      await beginProcessing(trx, final.id, size, usedAt)
      return (await uploadById(trx, final.id)) ?? final
    })
  } catch (error) {
    // A claim whose answer was lost may have gone through: then the upload goes on, whoever has the address of it. One that
    // has waited for its parts is known, and can claim them later.
    if (!awaitsParts(final)) await deleteUnclaimed(db, final)
    throw error
  }
}

/**
 * The final upload, with its parts if it has waited for them and all have come. Throws Refusal UPLOAD_GONE when they never
 * will, which ends it.
 */
export async function joinedIfWhole(db: Database, upload: UploadRow, now: number): Promise<UploadRow> {
  if (!awaitsParts(upload)) return upload
  const parts = await awaitedParts(db, upload)
  if (parts !== null && !areWhole(parts)) return upload
  try {
    if (parts === null) throw partLost()
    return await claimParts(db, upload, parts, sizeOfParts(parts))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // Somebody else may have looked at the same time, and has joined them.
    const present = await uploadById(db, upload.id)
    if (present !== undefined && present.state !== 'uploading' && present.state !== 'failed') return present
    await abandonUpload(db, upload, 'UPLOAD_GONE', now)
    throw partLost()
  }
}

/** The upload that the part was created with, joined if this was the last part that it waited for; null where there is none. */
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

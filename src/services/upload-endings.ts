/** Uploads that are given up, by whoever asked for it or by time. */
import { discardBlob } from '../database/blobs.ts'
import { lockAccount } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { dropUpload, endUpload, type UploadEnd } from '../database/upload-ends.ts'
import { partsOf } from '../database/upload-parts.ts'
import type { UploadRow } from '../database/uploads.ts'
import { GARBAGE_GRACE } from './cleaning.ts'

/**
 * Ends the upload as failed, and the parts of a final one with it: the room is given back, the bytes are left as garbage.
 * Does nothing when it has ended.
 */
export async function giveUp(db: Db, upload: UploadRow, failure: string, now: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    const end: UploadEnd = { ended_at: now, state: 'failed', failure }
    if (!(await endUpload(trx, upload, end))) return
    await discardBlob(trx, upload.key, now + GARBAGE_GRACE)
    await endParts(trx, upload, end)
  })
}

/** The same, and nothing tells any more that there has been an upload. The file of a completed one stays. */
export async function forget(db: Db, upload: UploadRow, now: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    const end: UploadEnd = { ended_at: now, state: 'failed', failure: 'terminated' }
    if (await endUpload(trx, upload, end)) {
      await discardBlob(trx, upload.key, now + GARBAGE_GRACE)
      await endParts(trx, upload, end)
    }
    await dropUpload(trx, upload.id)
  })
}

/** The parts of a final upload are wanted no more. */
export async function endParts(trx: Db, final: Pick<UploadRow, 'id'>, end: UploadEnd): Promise<void> {
  for (const part of await partsOf(trx, final.id)) {
    if (await endUpload(trx, part, end)) await discardBlob(trx, part.key, end.ended_at + GARBAGE_GRACE)
  }
}

/** Uploads that are given up, by whoever asked for it or by time. */
import { discardBlob } from '../database/blobs.ts'
import { lockAccount } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { dropUpload, endUpload, type UploadEnd } from '../database/upload-ends.ts'
import { partsOf } from '../database/upload-parts.ts'
import { type UploadRow, uploadById } from '../database/uploads.ts'
import { Refusal } from '../domain/errors.ts'
import { GARBAGE_GRACE } from './cleaning.ts'

/**
 * Ends the upload as failed, and the parts of a final one with it: the room is given back, the bytes are left as garbage.
 * Does nothing when it has ended, or is a part that is being joined.
 */
export async function giveUp(db: Db, upload: UploadRow, failure: string, now: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    const end: UploadEnd = { ended_at: now, state: 'failed', failure }
    await endWithParts(trx, upload, end)
  })
}

/**
 * The same, and nothing tells any more that there has been an upload. The file of a completed one stays. Throws Refusal
 * UPLOAD_LOCKED for a part that is being joined: the whole needs its bytes, and it ends with that.
 */
export async function forget(db: Db, upload: UploadRow, now: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    const end: UploadEnd = { ended_at: now, state: 'failed', failure: 'terminated' }
    const present = await uploadById(trx, upload.id)
    if (present !== undefined && present.joined_into !== null && present.ended_at === null)
      throw beingJoined()
    await endWithParts(trx, upload, end)
    await dropUpload(trx, upload.id)
  })
}

/** Ends a final upload that did not get its parts. Leaves one alone that has got them after all. */
export async function dropUnclaimed(db: Db, final: UploadRow): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, final.account_id)
    const present = await uploadById(trx, final.id)
    if (present?.state === 'uploading') await dropUpload(trx, final.id)
  })
}

async function endWithParts(trx: Db, upload: UploadRow, end: UploadEnd): Promise<void> {
  const key = await endUpload(trx, upload, end)
  if (key === null) return
  await discardBlob(trx, key, end.ended_at + GARBAGE_GRACE)
  await endParts(trx, upload, end)
}

/** The parts of a final upload are wanted no more. */
export async function endParts(trx: Db, final: Pick<UploadRow, 'id'>, end: UploadEnd): Promise<void> {
  for (const part of await partsOf(trx, final.id)) {
    const key = await endUpload(trx, part, end, { final: final.id })
    if (key !== null) await discardBlob(trx, key, end.ended_at + GARBAGE_GRACE)
  }
}

/** Seconds until such a part is worth another try. */
const JOINING_RETRY = 1

function beingJoined(): Refusal {
  const message = 'This part is being joined and ends with the upload that it became a part of'
  return new Refusal('UPLOAD_LOCKED', message, JOINING_RETRY)
}

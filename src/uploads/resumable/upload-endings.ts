import { discardBlob, GARBAGE_GRACE } from '../../core/blobs.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { Refusal } from '../../domain/errors.ts'
import type { LinkId } from '../../domain/ids.ts'
import { openUploadsOfLink } from '../contributions.rows.ts'
import { type UploadRow, uploadById } from '../uploads.rows.ts'
import { awaitsParts, partsLeft } from './awaited-parts.ts'
import { dropUpload, endUpload, type UploadEnd } from './upload-ends.rows.ts'
import { partsOf } from './upload-parts.rows.ts'

/** Leaves the bytes as garbage. Does nothing when it has ended, or is a part being concatenated. */
export async function abandonUpload(
  db: Database,
  upload: UploadRow,
  failure: string,
  now: number,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    await abandonIn(trx, upload, failure, now)
  })
}

/** Call under the account's lock. */
export function abandonIn(trx: Trx, upload: UploadRow, failure: string, now: number): Promise<void> {
  return endWithParts(trx, upload, { ended_at: now, state: 'failed', failure })
}

/** Frees their reservations at once. */
export async function abandonUploadsOfLink(db: Database, link: LinkId, now: number): Promise<void> {
  for (;;) {
    const open = await openUploadsOfLink(db, link, 100)
    if (open.length === 0) return
    for (const id of open) {
      const upload = await uploadById(db, id)
      if (upload !== undefined) await abandonUpload(db, upload, 'LINK_NOT_FOUND', now)
    }
  }
}

/** The file of a completed one stays. Throws Refusal UPLOAD_LOCKED for a part being concatenated. */
export async function endAndDeleteUpload(db: Database, upload: UploadRow, now: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    const end: UploadEnd = { ended_at: now, state: 'failed', failure: 'terminated' }
    const present = await uploadById(trx, upload.id)
    if (present !== undefined && present.joined_into !== null && present.ended_at === null) throw inUse()
    await endWithParts(trx, upload, end)
    await dropUpload(trx, upload.id)
  })
}

export async function deleteUnclaimed(db: Database, final: UploadRow): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, final.account_id)
    const present = await uploadById(trx, final.id)
    if (present?.state === 'uploading') await dropUpload(trx, final.id)
  })
}

async function endWithParts(trx: Trx, upload: UploadRow, end: UploadEnd): Promise<void> {
  const key = await endUpload(trx, upload, end)
  if (key === null) return
  await discardBlob(trx, key, end.ended_at + GARBAGE_GRACE)
  await endParts(trx, upload, end)
  if (!awaitsParts(upload)) return
  for (const part of await partsLeft(trx, upload)) {
    const partKey = await endUpload(trx, part, end)
    if (partKey !== null) await discardBlob(trx, partKey, end.ended_at + GARBAGE_GRACE)
  }
}

export async function endParts(trx: Trx, final: Pick<UploadRow, 'id'>, end: UploadEnd): Promise<void> {
  for (const part of await partsOf(trx, final.id)) {
    const key = await endUpload(trx, part, end, { final: final.id })
    if (key !== null) await discardBlob(trx, key, end.ended_at + GARBAGE_GRACE)
  }
}

/** Seconds. */
const CONCATENATION_RETRY = 1

function inUse(): Refusal {
  const message = 'This part is being joined and ends with the upload that it became a part of'
  return new Refusal('UPLOAD_LOCKED', message, CONCATENATION_RETRY)
}

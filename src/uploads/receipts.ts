import type { Signing } from '../core/hmac.ts'
import type { Database } from '../database/database.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type FileIdentifier, GUESTS, parseFileIdentifier, type Receipt, type Uuid } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { findFolder } from '../files/folders/folders.rows.ts'
import type { Removals } from '../files/removals.ts'
import { contributionByReceipt, dropContribution } from './contributions.rows.ts'
import { contributionTag } from './contributions.ts'
import type { ResumableUploads } from './resumable/resumable-uploads.ts'
import { uploadByUuid } from './uploads.rows.ts'

/**
 * Proof of having uploaded something as a guest, who has no account to delete it by: the upload's UUID, by which an index
 * finds it, and an HMAC of that, so that nobody but this server can make one.
 */
export interface Receipts {
  /** The receipt of a guest's upload: always the same for the same upload. */
  of(uuid: Uuid): Receipt
  /** The same of what came by an upload link. It does not tell the file's UUID, by which a public one would be found. */
  ofContribution(uuid: Uuid): Receipt
  /**
   * Deletes for good what was uploaded, also while its bytes are still arriving. Throws Refusal NOT_FOUND for a receipt
   * that this server never gave, and when nothing is left of the upload. What came by an upload link can be withdrawn from
   * its folder as long as the link is in force, and from then on only while it is arriving: LINK_ENDED besides.
   */
  redeem(receipt: string): Promise<void>
}

const PURPOSE = 'receipt'
const OF_CONTRIBUTION = 'contribution receipt'
const GUEST_REACH: Reach = { account: GUESTS, within: null }

export function createReceipts(parts: {
  db: Database
  signing: Signing
  clock: Clock
  resumable: Pick<ResumableUploads, 'cancel'>
  removals: Pick<Removals, 'files'>
}): Receipts {
  const { db, signing, clock, resumable, removals } = parts

  /** Whether an unfinished upload was ended. */
  async function endUpload(reach: Reach, uuid: Uuid): Promise<boolean> {
    const upload = await uploadByUuid(db, uuid)
    if (upload === undefined || upload.ended_at !== null) return false
    try {
      await resumable.cancel(reach, upload.slug)
      return true
    } catch (error) {
      if (error instanceof Refusal && error.code === 'UPLOAD_NOT_FOUND') return false
      throw error
    }
  }

  async function remove(reach: Reach, file: FileIdentifier): Promise<void> {
    const isEnded = file.kind === 'uuid' && (await endUpload(reach, file.uuid))
    // The upload may have become a file before it could be ended.
    const { deleted } = await removals.files(reach, [file])
    if (!isEnded && deleted === 0) throw notFound()
  }

  async function withdraw(tag: string): Promise<void> {
    const found = await contributionByReceipt(db, tag)
    if (found === undefined) throw notFound()
    const { id, account_id: account, file_uuid: uuid, folder_id } = found
    const folder = await findFolder(db, folder_id)
    if (folder === undefined) throw notFound()
    const reach = { account, within: folder.identifier }
    const isOver = found.revoked_at !== null || (found.ends_at !== null && found.ends_at <= clock.now())
    if (!isOver) await remove(reach, { kind: 'uuid', uuid })
    else if (!(await endUpload(reach, uuid))) throw tooLate()
    await dropContribution(db, id)
  }

  return {
    of: (uuid) => signing.sign(PURPOSE, uuid) as Receipt,

    ofContribution: (uuid) => signing.sign(OF_CONTRIBUTION, contributionTag(signing, uuid)) as Receipt,

    async redeem(receipt) {
      const uuid = signing.verify(PURPOSE, receipt)
      if (typeof uuid === 'string') return remove(GUEST_REACH, parseFileIdentifier(uuid))
      const tag = signing.verify(OF_CONTRIBUTION, receipt)
      if (typeof tag !== 'string') throw notFound()
      await withdraw(tag)
    },
  }
}

function tooLate(): Refusal {
  return new Refusal('LINK_ENDED', 'This link has ended, and what it took stays; ask the person who sent it')
}

function notFound(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no upload with this receipt; it may have been deleted already')
}

import type { Signing } from '../core/hmac.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import { GUESTS, parseFileIdentifier, type Receipt, type Uuid } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import type { Removals } from '../files/removals.ts'
import type { ResumableUploads } from './resumable/resumable-uploads.ts'
import { uploadByUuid } from './uploads.rows.ts'

/**
 * Proof of having uploaded something as a guest, who has no account to delete it by: the upload's UUID, by which an index
 * finds it, and an HMAC of that, so that nobody but this server can make one.
 */
export interface Receipts {
  /** The receipt of a guest's upload: always the same for the same upload. */
  of(uuid: Uuid): Receipt
  /**
   * Deletes for good what was uploaded, also while its bytes are still arriving. Throws Refusal NOT_FOUND for a receipt
   * that this server never gave, and when nothing is left of the upload.
   */
  redeem(receipt: string): Promise<void>
}

const PURPOSE = 'receipt'
const GUEST_REACH: Reach = { account: GUESTS, within: null }

export function createReceipts(parts: {
  db: Database
  signing: Signing
  resumable: Pick<ResumableUploads, 'cancel'>
  removals: Pick<Removals, 'files'>
}): Receipts {
  const { db, signing, resumable, removals } = parts

  /** Whether an unfinished upload was ended. */
  async function endUpload(uuid: Uuid): Promise<boolean> {
    const upload = await uploadByUuid(db, uuid)
    if (upload === undefined || upload.ended_at !== null) return false
    try {
      await resumable.cancel(GUEST_REACH, upload.slug)
      return true
    } catch (error) {
      if (error instanceof Refusal && error.code === 'UPLOAD_NOT_FOUND') return false
      throw error
    }
  }

  return {
    of: (uuid) => signing.sign(PURPOSE, uuid) as Receipt,

    async redeem(receipt) {
      const uuid = signing.verify(PURPOSE, receipt)
      if (typeof uuid !== 'string') throw notFound()
      const file = parseFileIdentifier(uuid)
      const isEnded = file.kind === 'uuid' && (await endUpload(file.uuid))
      // The upload may have become a file before it could be ended.
      const { deleted } = await removals.files(GUEST_REACH, [file])
      if (!isEnded && deleted === 0) throw notFound()
    },
  }
}

function notFound(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no upload with this receipt; it may have been deleted already')
}

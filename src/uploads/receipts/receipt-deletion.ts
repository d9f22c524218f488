import type { Database } from '../../database/database.ts'
import type { Reach } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileIdentifier, Uuid } from '../../domain/ids.ts'
import { findFolder } from '../../files/folders/folders.rows.ts'
import type { Removals } from '../../files/removals.ts'
import { contributionByReceipt, dropContribution } from '../contributions.rows.ts'
import type { ResumableUploads } from '../resumable/resumable-uploads.ts'
import { uploadByUuid } from '../uploads.rows.ts'

export type GuestFile = FileIdentifier & { readonly kind: 'uuid' }

/** Every function throws Refusal NOT_FOUND when nothing is left of the upload. */
interface ReceiptDeletion {
  remove(reach: Reach, file: GuestFile): Promise<void>
  /** Throws LINK_ENDED where the link is over and the file stored. */
  withdraw(tag: string): Promise<void>
}

interface ReceiptDeletionParts {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
  readonly resumable: Pick<ResumableUploads, 'cancel'>
  readonly files: { readonly removals: Pick<Removals, 'files'> }
}

export function createReceiptDeletion({
  db,
  clock,
  resumable,
  files,
}: ReceiptDeletionParts): ReceiptDeletion {
  async function endUpload(reach: Reach, uuid: Uuid): Promise<boolean> {
    const upload = await uploadByUuid(db, uuid)
    if (upload === undefined || upload.ended_at !== null) return false
    return resumable.cancel(reach, upload.slug).then(() => true, unlessUnknown)
  }

  async function remove(reach: Reach, file: GuestFile): Promise<void> {
    const isEnded = await endUpload(reach, file.uuid)
    // The upload may have become a file before it could be ended.
    const { deleted } = await files.removals.files(reach, [file])
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

  return { remove, withdraw }
}

/** False when the upload was over already. */
function unlessUnknown(error: unknown): false {
  if (error instanceof Refusal && error.code === 'UPLOAD_NOT_FOUND') return false
  throw error
}

export function notFound(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no upload with this receipt; it may have been deleted already')
}

function tooLate(): Refusal {
  return new Refusal('LINK_ENDED', 'This link has ended, and what it took stays; ask the person who sent it')
}

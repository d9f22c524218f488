import type { Database } from '../../database/database.ts'
import type { Clock } from '../../domain/clock.ts'
import type { LinkSlug } from '../../domain/ids.ts'
import type { UploadStatus } from '../../domain/upload-status.ts'
import type { AskedField } from '../../domain/upload-terms.ts'
import { findFile } from '../../files/files.rows.ts'
import { findFolder } from '../../files/folders/folders.rows.ts'
import { isWithin } from '../../files/folders/places.ts'
import { contributionByReceipt, type GivenContribution } from '../contributions.rows.ts'
import type { ResumableUploads } from '../resumable/resumable-uploads.ts'
import { uploadByUuid } from '../uploads.rows.ts'
import { notFound } from './receipt-deletion.ts'

/** What the sender sent, and nothing of what became of it. */
export interface ReceivedContribution extends Required<{ readonly [Field in AskedField]: string | null }> {
  readonly status: UploadStatus
  readonly name: string
  readonly received: number
  readonly size: number | null
  readonly sha256: string | null
  readonly created_at: number
  readonly owner: string
  /** Null once revoked. */
  readonly link: { readonly slug: LinkSlug; readonly name: string | null } | null
  readonly canWithdraw: boolean
}

interface LookingParts {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
  readonly resumable: Pick<ResumableUploads, 'bySlug'>
}

/** Throws Refusal NOT_FOUND when nothing is left of it. */
export async function findContribution(parts: LookingParts, tag: string): Promise<ReceivedContribution> {
  const found = await contributionByReceipt(parts.db, tag)
  if (found === undefined) throw notFound()
  const { sender, address, reference, created_at, owner, slug, link_name: name, revoked_at } = found
  return {
    sender,
    address,
    reference,
    created_at,
    owner,
    link: revoked_at === null ? { slug, name } : null,
    ...((await arriving(parts, found)) ?? (await stored(parts, found))),
  }
}

type Sent = Pick<ReceivedContribution, 'status' | 'name' | 'received' | 'size' | 'sha256' | 'canWithdraw'>

async function arriving({ db, resumable }: LookingParts, found: GivenContribution): Promise<Sent | null> {
  const upload = await uploadByUuid(db, found.file_uuid)
  if (upload === undefined || upload.ended_at !== null) return null
  const looked = await resumable.bySlug({ account: found.account_id, within: null }, upload.slug)
  if (looked === null || looked.state === 'completed') return null
  const { state: status, received, size } = looked
  return { status, name: found.name, received, size, sha256: null, canWithdraw: true }
}

async function stored({ db, clock }: LookingParts, found: GivenContribution): Promise<Sent> {
  const { account_id: account, folder_id, file_uuid: uuid, revoked_at, ends_at } = found
  const file = await findFile(db, { kind: 'uuid', uuid })
  if (file === undefined || file.account_id !== account) throw notFound()
  const { size, sha256 } = file
  const isOver = revoked_at !== null || (ends_at !== null && ends_at <= clock.now())
  const folder = isOver ? undefined : await findFolder(db, folder_id)
  const canWithdraw =
    folder !== undefined && (await isWithin(db, { account, within: folder.identifier }, file.folder_id))
  return { status: 'completed', name: found.name, received: size, size, sha256, canWithdraw }
}

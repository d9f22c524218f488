import { changeTotals } from '../core/accounts.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import type { Signing } from '../core/hmac.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import { fitsStorage } from '../core/reservations.rows.ts'
import type { Database } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { GUEST_REACH, type Reach } from '../domain/access.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import {
  type FileId,
  type FileIdentifier,
  type FolderId,
  type FolderIdentifier,
  type FolderPlace,
  GUESTS,
  type LinkId,
  type LinkSlug,
  parseFileIdentifier,
  type Receipt,
  type Uuid,
} from '../domain/ids.ts'
import type { AskedField, UploadStatus } from '../domain/upload-terms.ts'
import { type FileDetailRow, type Files, findFile, giveFile, ownFile } from '../files/files.ts'
import { changeFiles, type FolderListRow, findFolder, folderChain } from '../files/folders/folders.rows.ts'
import { assertFolderExists, isWithin, resolvePlace, transferIn } from '../files/folders/places.ts'
import type { Removals } from '../files/removals.ts'
import { transferOf } from '../files/transfers.rows.ts'
import { addFileUse } from '../files/use-counters.ts'
import { contributionByReceipt, dropContribution, type GivenContribution } from './contributions.rows.ts'
import { contributionTag } from './contributions.ts'
import { giveLinks, revokeGuestLink } from './guest-links.rows.ts'
import { limitOf, type StorageLimits, storageFull } from './reservations.ts'
import type { ResumableUpload, ResumableUploads } from './resumable/resumable-uploads.ts'
import { giveUploads, uploadByUuid } from './uploads.rows.ts'

export interface GivenReceipt {
  readonly text: string
  /** The address, as limits count addresses. */
  readonly bucket: string
}

export type ReceivedUpload =
  | { readonly kind: 'file'; readonly file: FileDetailRow }
  | { readonly kind: 'arriving'; readonly upload: ResumableUpload }

/** A link by its id alone: its rows know whether it is still a guest's. */
export type ReceiptSubject =
  | ReceivedUpload
  | { readonly kind: 'contribution'; readonly contribution: ReceivedContribution }
  | { readonly kind: 'link'; readonly link: LinkId }
  | { readonly kind: 'transfer'; readonly transfer: FolderId }

/**
 * An upload's UUID, and an HMAC that only this server can make. Throws Refusal NOT_FOUND for a forged receipt and when
 * nothing is left of the upload, and RATE_LIMITED after too many forged ones from the address.
 */
export interface Receipts {
  /** Always equal for one upload. */
  of(uuid: Uuid): Receipt
  /** Hides the UUID, by which a public file would be found. */
  ofContribution(uuid: Uuid): Receipt
  ofLink(link: LinkId): Receipt
  /** By the id of its folder. */
  ofTransfer(transfer: FolderId): Receipt
  /** Throws Refusal FILE_ARRIVING besides. */
  files(receipts: readonly GivenReceipt[]): Promise<ReadonlySet<FileId>>
  /** Changes nothing, not even the time of last use: programs open every address they find. */
  look(receipt: GivenReceipt): Promise<ReceiptSubject>
  /** Also of a transfer. */
  link(receipt: GivenReceipt): Promise<LinkId>
  /** The transfer's folder, or null for the receipt of anything else. */
  transfer(receipt: GivenReceipt): Promise<FolderListRow | null>
  /** Throws Refusal NOT_FOUND besides for the receipt of anything else. */
  transferFolder(receipt: GivenReceipt): Promise<FolderIdentifier>
  /** Throws Refusal FILE_ARRIVING. */
  rename(receipt: GivenReceipt, name: string): Promise<void>
  /** Counts as a use. Throws Refusal FILE_ARRIVING. */
  keep(receipt: GivenReceipt): Promise<void>
  /** May be repeated. Throws Refusal FILE_ARRIVING, FOLDER_NOT_FOUND, STORAGE_LIMIT_EXCEEDED besides. */
  claim(receipt: GivenReceipt, by: Claimant): Promise<FileDetailRow>
  /**
   * Deletes for good, also while it arrives. A contribution can be withdrawn while its link is in force, then only
   * while it arrives: LINK_ENDED besides. Revokes a guest's link. Not for transfers.
   */
  redeem(receipt: GivenReceipt): Promise<Genuine['kind']>
}

const PURPOSE = 'receipt'
const OF_CONTRIBUTION = 'contribution receipt'
const OF_LINK = 'link receipt'
const OF_TRANSFER = 'transfer receipt'
/** Per address and hour. Receipts cannot be guessed. */
const MOST_MADE_UP = 60

type Genuine =
  | { readonly kind: 'link'; readonly link: LinkId }
  | { readonly kind: 'guest'; readonly file: GuestFile }
  | { readonly kind: 'contribution'; readonly tag: string }
  | { readonly kind: 'transfer'; readonly transfer: FolderId }

export interface ReceiptParts {
  readonly db: Database
  readonly clock: Clock
  readonly signing: Signing
  readonly rates: RateLimits
  readonly limits: StorageLimits
  readonly resumable: Pick<ResumableUploads, 'cancel' | 'bySlug'>
  readonly files: Pick<Files, 'get' | 'change'> & { readonly removals: Pick<Removals, 'files'> }
}

function createReading({ signing, rates }: Pick<ReceiptParts, 'signing' | 'rates'>) {
  return async ({ text, bucket }: GivenReceipt): Promise<Genuine> => {
    const subject = `receipts:${bucket}`
    const verdict = await rates.look(subject, 1, MOST_MADE_UP, HOUR)
    if (!verdict.allowed) throw tooMany(verdict.resetsIn)
    const uuid = signing.verify(PURPOSE, text)
    const file = typeof uuid === 'string' ? parseFileIdentifier(uuid) : null
    if (file?.kind === 'uuid') return { kind: 'guest', file }
    const tag = signing.verify(OF_CONTRIBUTION, text)
    if (typeof tag === 'string') return { kind: 'contribution', tag }
    const link = signing.verify(OF_LINK, text)
    if (typeof link === 'number') return { kind: 'link', link: link as LinkId }
    const transfer = signing.verify(OF_TRANSFER, text)
    if (typeof transfer === 'number') return { kind: 'transfer', transfer: transfer as FolderId }
    await rates.take(subject, 1, MOST_MADE_UP, HOUR)
    throw notFound()
  }
}

function createLooking(parts: ReceiptParts) {
  const { db, resumable, files } = parts

  async function arriving(uuid: Uuid): Promise<ResumableUpload | null> {
    const upload = await uploadByUuid(db, uuid)
    if (upload === undefined || upload.ended_at !== null) return null
    const found = await resumable.bySlug(GUEST_REACH, upload.slug)
    return found?.state === 'completed' ? null : found
  }

  async function lookAt(found: Genuine): Promise<ReceiptSubject> {
    if (found.kind === 'link' || found.kind === 'transfer') return found
    if (found.kind === 'contribution') {
      return { kind: 'contribution', contribution: await findContribution(parts, found.tag) }
    }
    const { file } = found
    const upload = await arriving(file.uuid)
    if (upload !== null) return { kind: 'arriving', upload }
    return { kind: 'file', file: await files.get(GUEST_REACH, file).catch(missing) }
  }

  return { arriving, lookAt }
}

export function createReceipts(parts: ReceiptParts): Receipts {
  const { db, clock, signing, files } = parts
  const read = createReading(parts)
  const { arriving, lookAt } = createLooking(parts)
  const deleting = createReceiptDeletion(parts)

  async function ofGuest(receipt: GivenReceipt): Promise<GuestFile> {
    const found = await read(receipt)
    if (found.kind !== 'guest') throw notOfUpload(found.kind)
    return found.file
  }

  /** Throws Refusal NOT_FOUND: the receipt of a file in a transfer shows, renames and deletes it, and nothing else. */
  async function assertNotInTransfer({ folder_id }: FileDetailRow): Promise<void> {
    if (transferIn(await folderChain(db, folder_id)) === null) return
    throw new Refusal(
      'NOT_FOUND',
      'This file belongs to a transfer, whose own receipt claims it and changes its link',
    )
  }

  async function transfer(receipt: GivenReceipt): Promise<FolderListRow | null> {
    const found = await read(receipt)
    if (found.kind !== 'transfer') return null
    const folder = await findFolder(db, found.transfer)
    if (folder === undefined || folder.account_id !== GUESTS) throw notFound()
    return folder
  }

  async function stored(receipt: GivenReceipt): Promise<FileDetailRow> {
    const file = await ofGuest(receipt)
    if ((await arriving(file.uuid)) !== null) throw stillArriving()
    return files.get(GUEST_REACH, file).catch(missing)
  }

  return {
    of: (uuid) => signing.sign(PURPOSE, uuid) as Receipt,

    ofContribution: (uuid) => signing.sign(OF_CONTRIBUTION, contributionTag(signing, uuid)) as Receipt,

    ofLink: (link) => signing.sign(OF_LINK, link) as Receipt,

    ofTransfer: (folder) => signing.sign(OF_TRANSFER, folder) as Receipt,

    async files(receipts) {
      const found = new Set<FileId>()
      for (const receipt of receipts) {
        const file = await stored(receipt)
        await assertNotInTransfer(file)
        found.add(file.id)
      }
      return found
    },

    transfer,

    async transferFolder(receipt) {
      const folder = await transfer(receipt)
      if (folder === null) throw new Refusal('NOT_FOUND', 'This receipt is not of a transfer')
      return folder.identifier
    },

    look: async (receipt) => lookAt(await read(receipt)),

    async link(receipt) {
      const found = await read(receipt)
      if (found.kind === 'link') return found.link
      const folder = found.kind === 'transfer' ? await transfer(receipt) : null
      const link = folder === null ? undefined : await transferOf(db, folder.id)
      if (link === undefined) throw notOfLink()
      return link.link_id
    },

    async rename(receipt, name) {
      const { uuid } = await stored(receipt)
      await files.change(GUEST_REACH, { kind: 'uuid', uuid }, { name }).catch(missing)
    },

    async keep(receipt) {
      const { id } = await stored(receipt)
      const use = { views: 0, downloads: 0, lastUsedAt: clock.now() }
      await inTransaction(db, (trx) => addFileUse(trx, [id], use))
    },

    async claim(receipt, by) {
      const file = await ofGuest(receipt)
      if ((await arriving(file.uuid)) !== null) throw stillArriving()
      const present = await findFile(db, file)
      if (present?.account_id === GUESTS) await assertNotInTransfer(present)
      return claimFile(parts, file, by).catch(missing)
    },

    async redeem(receipt) {
      const found = await read(receipt)
      switch (found.kind) {
        case 'guest':
          await deleting.remove(GUEST_REACH, found.file)
          break
        case 'contribution':
          await deleting.withdraw(found.tag)
          break
        case 'link':
          if (!(await revokeGuestLink(db, found.link, clock.now()))) throw linkIsOver()
          break
        case 'transfer':
          throw notFound()
      }
      return found.kind
    },
  }
}

function missing(error: unknown): never {
  throw error instanceof Refusal && error.code === 'FILE_NOT_FOUND' ? notFound() : error
}

function stillArriving(): Refusal {
  return new Refusal('FILE_ARRIVING', 'The file is still being uploaded; try again when it is complete', 5)
}

function tooMany(resetsIn: number): Refusal {
  return new Refusal(
    'RATE_LIMITED',
    'Too many receipts from this address are not from here; try later',
    resetsIn,
  )
}

function notOfUpload(kind: 'contribution' | 'link' | 'transfer'): Refusal {
  return new Refusal(
    'NOT_FOUND',
    kind !== 'contribution'
      ? `This receipt is of a ${kind}, and not of what it opens`
      : 'The receipt of an upload link shows and withdraws the upload, and nothing else',
  )
}

function notOfLink(): Refusal {
  return new Refusal('NOT_FOUND', 'This receipt is of an upload, and not of a link')
}

export function linkIsOver(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no link with this receipt; it may have been revoked already')
}

interface Claimant {
  readonly reach: Reach
  readonly place: FolderPlace
}

interface ClaimParts {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
  readonly limits: StorageLimits
}

/**
 * In one transaction under the locks of storing. A file already the account's stays, so a claim may be repeated. Throws
 * Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND or STORAGE_LIMIT_EXCEEDED.
 */
export async function claimFile(
  { db, clock, limits }: ClaimParts,
  identifier: FileIdentifier & { readonly kind: 'uuid' },
  { reach, place }: Claimant,
): Promise<FileDetailRow> {
  const { account } = reach
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, GUESTS)
    await lockAccount(trx, account)
    const present = await findFile(trx, identifier)
    if (present?.account_id === account && (await isWithin(trx, reach, present.folder_id))) return
    const { id, folder_id: from, size } = await ownFile(trx, GUEST_REACH, identifier)
    const folder = await resolvePlace(trx, reach, place)
    await assertFolderExists(trx, folder)
    if (!(await fitsStorage(trx, account, size, limitOf(account, limits)))) {
      throw await storageFull(trx, account, limits)
    }
    await giveFile(trx, id, { account, folder, now: clock.now() })
    await giveUploads(trx, identifier.uuid, { account, folder })
    await giveLinks(trx, id, account)
    await changeTotals(trx, GUESTS, { storage: -size, files: -1 })
    await changeFiles(trx, from, -1, -size)
    await changeTotals(trx, account, { storage: size, files: 1 })
    await changeFiles(trx, folder, 1, size)
    await noteChange(trx, account, { kind: 'file.added', file: id, place: folder })
  })
  return ownFile(db, reach, identifier)
}

/** What the sender sent, and nothing of what became of it. */
interface ReceivedContribution extends Required<{ readonly [Field in AskedField]: string | null }> {
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
async function findContribution(parts: LookingParts, tag: string): Promise<ReceivedContribution> {
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

import type { ContributorCaller } from '../core/callers.ts'
import type { Signing } from '../core/hmac.ts'
import { noteEnd, noteEvent } from '../core/link-events.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { END_NOTIFIED, END_PENDING, END_SOON_NOTIFIED, type EndNotified } from '../domain/event-kinds.ts'
import { extensionOf } from '../domain/file-name.ts'
import type { AccountId, BlobKey, FileId, FolderId, LinkId, Uuid } from '../domain/ids.ts'
import { mediaTypeOfName } from '../domain/media-type.ts'
import { formatSize } from '../domain/sizes.ts'
import {
  type Answers,
  checkedAnswers,
  type LinkUsage,
  MOST_FILES,
  type UploadTerms,
} from '../domain/upload-terms.ts'
import { countTree } from '../files/folders/folders.rows.ts'
import {
  deleteAbandonedContributions,
  insertContribution,
  isFullyReceived,
  type LockedUploadLink,
  linkUsage,
  lockUploadLink,
  setEndNotified,
  type UploadLinkRow,
  uploadLinkOf,
} from './contributions.rows.ts'

export interface WantedContribution extends OfferedFile {
  readonly answers: Answers
  readonly uuid: Uuid
  /** Null for a resumable upload. */
  readonly reservation: BlobKey | null
}

export interface ContributionLink {
  readonly link: LinkId
  readonly account: AccountId
}

export interface ReceivedFile {
  readonly id: FileId
  readonly name: string
  readonly size: number
}

/** Identifies a file without revealing it. */
export function contributionTag(signing: Signing, uuid: Uuid): string {
  return signing.tag('contribution', uuid)
}

/**
 * Each contribution counts from its first byte, under a lock of the link's row: concurrent contributors cannot exceed
 * the limits, and those who send nothing block no others. It counts while it is under way or its file exists.
 */
export class Contributions {
  readonly #db: Database
  readonly #signing: Signing
  readonly #clock: Clock
  readonly #keepsAddresses: boolean

  constructor(parts: { db: Database; signing: Signing; clock: Clock; keepsAddresses: boolean }) {
    this.#db = parts.db
    this.#signing = parts.signing
    this.#clock = parts.clock
    this.#keepsAddresses = parts.keepsAddresses
  }

  async check({ link }: ContributorCaller, file: OfferedFile, answers: Answers): Promise<void> {
    const { terms } = await this.#linkOf(this.#db, link)
    checkedAnswers(terms.fields, answers)
    assertAccepted(terms, await linkUsage(this.#db, link), file)
  }

  /**
   * One-request contributions count from now, resumable ones from `grow`. Throws Refusal LINK_NOT_FOUND when the link
   * was revoked or its owner disabled, LINK_ENDED, LINK_USED_UP, FILE_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
   * INVALID_REQUEST.
   */
  async take(trx: Trx, { link }: ContributorCaller, wanted: WantedContribution): Promise<void> {
    const now = this.#clock.now()
    const row = await this.#locked(trx, link)
    if (row.ends_at !== null && row.ends_at <= now) throw linkEnded()
    const { terms } = await this.#linkOf(trx, link)
    const answers = checkedAnswers(terms.fields, wanted.answers)
    assertAccepted(terms, await linkUsage(trx, link), wanted)
    const { uuid, reservation, size, name } = wanted
    const receipt = contributionTag(this.#signing, uuid)
    const contribution = { link_id: link, file_uuid: uuid, receipt, reservation, size, name, created_at: now }
    await insertContribution(trx, contribution, answers)
    if (row.end_notified === END_NOTIFIED) await setEndNotified(trx, link, endNotifiedAnew(row.ends_at, now))
  }

  /**
   * Counts no more bytes than come, so that large announcements do not close the link. Call in the transaction that
   * reserves them and has locked the account. Throws Refusal LINK_NOT_FOUND, LINK_USED_UP or FILE_TOO_LARGE.
   */
  async grow(trx: Trx, link: LinkId, bytes: number, isFirst: boolean): Promise<void> {
    const row = await this.#locked(trx, link)
    const { terms } = await this.#linkOf(trx, link)
    assertRoom(terms, await linkUsage(trx, link), { files: isFirst ? 1 : 0, size: bytes })
    if (isFirst && row.end_notified === END_NOTIFIED) {
      await setEndNotified(trx, link, endNotifiedAnew(row.ends_at, this.#clock.now()))
    }
  }

  /** Folders outlive failed uploads into them, so they are limited. Throws Refusal LINK_USED_UP. */
  async assertFewFolders(trx: Trx, into: FolderId): Promise<void> {
    if ((await countTree(trx, into, MOST_FOLDERS)) < MOST_FOLDERS) return
    throw new Refusal('LINK_USED_UP', 'This link takes no more folders; send files without them')
  }

  takeNow(caller: ContributorCaller, wanted: WantedContribution): Promise<void> {
    return inTransaction(this.#db, (trx) => this.take(trx, caller, wanted))
  }

  /**
   * Call in the transaction that stores the file and has locked the account: nothing arrives after a revocation was
   * answered. Throws Refusal LINK_NOT_FOUND.
   */
  async arrived(
    trx: Trx,
    { link, account }: ContributionLink,
    file: ReceivedFile,
    address: string | null,
  ): Promise<void> {
    await this.#locked(trx, link)
    const { size: bytes } = file
    const at = this.#clock.now()
    const kept = this.#keepsAddresses ? address : null
    await noteEvent(trx, { account, link, kind: 'link.arrived', at, file, bytes, address: kept })
    const { terms } = await this.#linkOf(trx, link)
    if (await isFullyReceived(trx, link, terms)) await noteEnd(trx, { id: link, account }, 'full', at)
  }

  async deleteAbandoned(mayGoOn: () => boolean = () => true): Promise<void> {
    const before = this.#clock.now() - DAY
    while (mayGoOn() && (await deleteAbandonedContributions(this.#db, before, STEP)) === STEP);
  }

  async #locked(trx: Trx, link: LinkId): Promise<LockedUploadLink> {
    const row = await lockUploadLink(trx, link)
    if (row === undefined || row.revoked_at !== null || row.disabled_at !== null) throw linkGone()
    return row
  }

  async #linkOf(db: Database | Trx, link: LinkId): Promise<UploadLinkRow> {
    const row = await uploadLinkOf(db, link)
    if (row === undefined) throw linkGone()
    return row
  }
}

/** Keeps a link that is no longer full from repeating notices. */
function endNotifiedAnew(endsAt: number | null, now: number): EndNotified {
  return endsAt !== null && endsAt - now < DAY ? END_SOON_NOTIFIED : END_PENDING
}

const STEP = 100
const MOST_FOLDERS = MOST_FILES

export function linkEnded(): Refusal {
  return new Refusal('LINK_ENDED', 'This link has ended; ask the person who sent it for another one')
}

function linkGone(): Refusal {
  return new Refusal('LINK_NOT_FOUND', 'There is no such link')
}

/** Replaces refusals that would reveal the owner's storage or the folder's fate. */
export async function hideOwnerDetails<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.code === 'FOLDER_NOT_FOUND') throw linkGone()
    if (error.code !== 'STORAGE_LIMIT_EXCEEDED') throw error
    const message = 'There is no room for this file where this link puts it; tell the person who sent it'
    throw new Refusal('STORAGE_LIMIT_EXCEEDED', message)
  }
}

export function idempotencyKeyRefused(): Refusal {
  return new Refusal('INVALID_REQUEST', 'Upload links take no Idempotency-Key; leave it out')
}

interface OfferedFile {
  readonly name: string
  readonly size: number
}

/** By extension alone: a listed one, or one of a listed media type. */
function isAcceptedType(types: readonly string[], name: string): boolean {
  const extension = `.${extensionOf(name)}`
  const media = mediaTypeOfName(name)
  return types.some((type) => {
    if (type.startsWith('.')) return type === extension
    return type.endsWith('/*') ? media?.startsWith(type.slice(0, -1)) === true : type === media
  })
}

/** Throws Refusal LINK_USED_UP, FILE_TOO_LARGE or UNSUPPORTED_MEDIA_TYPE. */
function assertAccepted(terms: UploadTerms, taken: LinkUsage, { name, size }: OfferedFile): void {
  const { maxFileSize, types } = terms
  if (types !== null && !isAcceptedType(types, name)) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      `This link takes only these kinds of files: ${types.join(', ')}`,
    )
  }
  if (maxFileSize !== null && size > maxFileSize) {
    throw new Refusal('FILE_TOO_LARGE', `A file for this link may have ${formatSize(maxFileSize)} at most`)
  }
  assertRoom(terms, taken, { files: 1, size })
}

/** Throws Refusal LINK_USED_UP when the link takes nothing more, FILE_TOO_LARGE when it takes less than `more`. */
function assertRoom({ maxFiles, maxSize }: UploadTerms, taken: LinkUsage, more: LinkUsage): void {
  const left = maxSize === null ? Number.POSITIVE_INFINITY : maxSize - taken.size
  if (taken.files + more.files > (maxFiles ?? MOST_FILES) || left <= 0) {
    throw new Refusal('LINK_USED_UP', 'This link takes no more files; ask the person who sent it')
  }
  if (more.size > left) {
    const message = `This link takes ${formatSize(left)} more at most; send a smaller file, or ask the person who sent it`
    throw new Refusal('FILE_TOO_LARGE', message)
  }
}

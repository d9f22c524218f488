import type { ContributorCaller } from '../core/callers.ts'
import type { Signing } from '../core/hmac.ts'
import { noteEnd, noteEvent } from '../core/link-events.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, BlobKey, FileId, FolderId, LinkId, Uuid } from '../domain/ids.ts'
import { END_SOON_TOLD, END_TOLD, END_UNTOLD, type EndTold } from '../domain/link-event.ts'
import { type Answers, checkedAnswers, MOST_FILES } from '../domain/upload-terms.ts'
import { countTree } from '../files/folders/trees.rows.ts'
import { assertAccepted, assertRoom, type OfferedFile } from './accepted-files.ts'
import {
  deleteAbandonedContributions,
  insertContribution,
  isFullyReceived,
  type LockedUploadLink,
  linkUsage,
  lockUploadLink,
  setEndTold,
  type UploadLinkRow,
  uploadLinkOf,
} from './contributions.rows.ts'

export interface WantedContribution extends OfferedFile {
  readonly answers: Answers
  readonly uuid: Uuid
  /** Key of the reservation of an upload that one request brings; null for a resumable one. */
  readonly reservation: BlobKey | null
}

/** The upload link of a contribution, and its owner's account. */
export interface ContributionLink {
  readonly link: LinkId
  readonly account: AccountId
}

export interface ReceivedFile {
  readonly id: FileId
  readonly name: string
  readonly size: number
}

/** The number of the file that a receipt of a contribution names, so that the receipt does not name the file. */
export function contributionTag(signing: Signing, uuid: Uuid): string {
  return signing.tag('contribution', uuid)
}

/**
 * Contributions by upload links. Each takes its place with its first byte, in a transaction that counts under a lock on the
 * link's row, so that no number of senders at once puts more into a folder than its owner allows, and whoever sends nothing
 * keeps nobody out. It keeps the place as long as its upload is under way or its file is there: see `hasPlace`.
 */
export class Contributions {
  readonly #db: Database
  readonly #signing: Signing
  readonly #clock: Clock
  readonly #keepsAddresses: boolean

  /** `keepsAddresses`: whether the log of a link says from where something came. */
  constructor(parts: { db: Database; signing: Signing; clock: Clock; keepsAddresses: boolean }) {
    this.#db = parts.db
    this.#signing = parts.signing
    this.#clock = parts.clock
    this.#keepsAddresses = parts.keepsAddresses
  }

  /** Refuses, before anything is reserved, what `take` would refuse now. */
  async check({ link }: ContributorCaller, file: OfferedFile, answers: Answers): Promise<void> {
    const { terms } = await this.#linkOf(this.#db, link)
    checkedAnswers(terms.fields, answers)
    assertAccepted(terms, await linkUsage(this.#db, link), file)
  }

  /**
   * Notes what comes, and takes the place of what comes in one request. That of a resumable upload is taken by `grow`. Throws Refusal LINK_NOT_FOUND when the link was revoked or its owner disabled, LINK_ENDED, LINK_USED_UP, FILE_TOO_LARGE,
   * UNSUPPORTED_MEDIA_TYPE, or INVALID_REQUEST for a missing answer.
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
    if (row.end_told === END_TOLD) await setEndTold(trx, link, endToldAnew(row.ends_at, now))
  }

  /**
   * Takes place for so many bytes more of a resumable upload, in the transaction that reserves them and has locked the account:
   * its file's with the first ones, and for no more than come, so that nobody closes the link by announcing much. Throws
   * Refusal LINK_NOT_FOUND, LINK_USED_UP or FILE_TOO_LARGE.
   */
  async grow(trx: Trx, link: LinkId, bytes: number, isFirst: boolean): Promise<void> {
    const row = await this.#locked(trx, link)
    const { terms } = await this.#linkOf(trx, link)
    assertRoom(terms, await linkUsage(trx, link), { files: isFirst ? 1 : 0, size: bytes })
    if (isFirst && row.end_told === END_TOLD) {
      await setEndTold(trx, link, endToldAnew(row.ends_at, this.#clock.now()))
    }
  }

  /** Folders stay when what was to come into them does not. Throws Refusal LINK_USED_UP when there are too many. */
  async assertFewFolders(trx: Trx, into: FolderId): Promise<void> {
    if ((await countTree(trx, into, MOST_FOLDERS)) < MOST_FOLDERS) return
    throw new Refusal('LINK_USED_UP', 'This link takes no more folders; send files without them')
  }

  /** `take` in a transaction of its own. */
  takeNow(caller: ContributorCaller, wanted: WantedContribution): Promise<void> {
    return inTransaction(this.#db, (trx) => this.take(trx, caller, wanted))
  }

  /**
   * Notes what came, and that the link has ended when that was the last that it takes, in the transaction that stores the
   * file and has locked the account: nothing arrives any more once a revocation was answered. `address`: where it came from;
   * null where that is not known. Throws Refusal LINK_NOT_FOUND.
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

  /** Deletes what is kept of contributions that will never become files, or whose files are gone. */
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

/** What needs not be told anew of the end of a link that was full, and is not any more. */
function endToldAnew(endsAt: number | null, now: number): EndTold {
  return endsAt !== null && endsAt - now < DAY ? END_SOON_TOLD : END_UNTOLD
}

const STEP = 100
/** Folders below the one that a link fills. */
const MOST_FOLDERS = MOST_FILES

export function linkEnded(): Refusal {
  return new Refusal('LINK_ENDED', 'This link has ended; ask the person who sent it for another one')
}

function linkGone(): Refusal {
  return new Refusal('LINK_NOT_FOUND', 'There is no such link')
}

/**
 * Runs `work` and replaces refusals that would tell a contributor of the owner's account: how much room there is, and what
 * has become of the folder.
 */
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

/** Refuses a request to an upload link that has an Idempotency-Key. */
export function idempotencyKeyRefused(): Refusal {
  return new Refusal('INVALID_REQUEST', 'Upload links take no Idempotency-Key; leave it out')
}

import type { BlobStore } from '../blobs/blob-store.ts'
import { ownerOf, reachOf, type Sender } from '../core/callers.ts'
import type { Signing } from '../core/hmac.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import type { AccountId, BlobKey, FolderId, FolderPlace } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { resolvePlace } from '../files/folders/places.ts'
import type { FileCommit, FileLink, Settle, StoredFile } from './commit.ts'
import { FileHead } from './file-head.ts'
import { guestAddress } from './guest-admission.ts'
import type { ContentHashing } from './hashing/content-hash.ts'
import type { KeyNote } from './idempotency-keys.rows.ts'
import { BufferedContent, type IncomingContent, MOST_BUFFERED, StreamedContent } from './incoming-content.ts'
import { assertFileSize, fileTooLarge } from './refusals.ts'
import type { RequestReservation, Reservations } from './reservations.ts'

export interface DirectUploadParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly health: StoreHealth
  readonly hashing: ContentHashing
  readonly reservations: Reservations
  readonly commit: FileCommit
  readonly random: Random
  readonly signing: Signing
  readonly maxFileSize: number
}

export interface AdmittedPlace {
  readonly folder: FolderId
  readonly reserved: ReservedUpload | null
  /** A full account's: thrown only once the file is known to fit any account. */
  readonly refusal: Refusal | null
}

interface ReservedUpload {
  readonly key: BlobKey
  readonly reservation: RequestReservation
}

/** Bodies up to so many bytes are reserved before they come: slow clients then hold little. */
const RESERVED_AT_ONCE = 1024 * 1024

export class DirectUploads {
  readonly #parts: DirectUploadParts

  constructor(parts: DirectUploadParts) {
    this.#parts = parts
  }

  /** Throws Refusal FOLDER_NOT_FOUND or FILE_TOO_LARGE; a full account's is returned. `least`: bytes of the file. */
  async #check(
    caller: Sender,
    place: FolderPlace,
    least: number,
  ): Promise<Pick<AdmittedPlace, 'folder' | 'refusal'>> {
    const { db, health, reservations, maxFileSize } = this.#parts
    health.assertUsable()
    // Which refusal wins does not depend on their order.
    const [folder, space] = await Promise.allSettled([
      resolvePlace(db, reachOf(caller), place),
      reservations.check(caller, least),
    ])
    if (folder.status === 'rejected') throw folder.reason
    assertFileSize(least, maxFileSize)
    if (space.status === 'fulfilled') return { folder: folder.value, refusal: null }
    if (!(space.reason instanceof Refusal)) throw space.reason
    return { folder: folder.value, refusal: space.reason }
  }

  /** Checks, and reserves a small body, before it is read. Call `begin` or `leave` afterwards. */
  async admit(
    caller: Sender,
    place: FolderPlace,
    least: number,
    declared: number | null,
  ): Promise<AdmittedPlace> {
    const { health, reservations, random, maxFileSize } = this.#parts
    health.assertUsable()
    if (declared !== null && declared > 0 && declared <= Math.min(RESERVED_AT_ONCE, maxFileSize)) {
      const key = makeBlobKey(random)
      const found = await reservations.reserveInPlace(caller, key, declared, place)
      if (found !== null) {
        return { folder: found.folder, reserved: { key, reservation: found.reservation }, refusal: null }
      }
    }
    const { folder, refusal } = await this.#check(caller, place, least)
    if (refusal !== null && (declared === null || declared <= maxFileSize || !isStorageLimit(refusal))) {
      throw refusal
    }
    return { folder, reserved: null, refusal }
  }

  /** Harmless after `begin`. */
  async leave({ reserved }: AdmittedPlace): Promise<void> {
    await reserved?.reservation.release()
  }

  /**
   * Reserves before a byte is stored. Throws Refusal FILE_TOO_LARGE, STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE,
   * RATE_LIMITED.
   */
  async begin(
    caller: Sender,
    folder: FolderId,
    size: { readonly least: number; readonly most: number },
    reserved: ReservedUpload | null = null,
  ): Promise<DirectUpload> {
    const { blobs, hashing, health, signing } = this.#parts
    const account = ownerOf(caller)
    const { key, reservation } = reserved ?? (await this.#reserve(caller, size))
    try {
      const parts = { blobs, hashing, wrote: (bytes: number) => reservation.wrote(bytes) }
      const content =
        BufferedContent.open(key, parts, size.most) ??
        new StreamedContent(key, await blobs.create(key), hashing, parts.wrote)
      const address = caller.kind === 'account' ? null : guestAddress(signing, caller.bucket)
      return new DirectUpload(this.#parts, { account, address, folder, key }, reservation, content)
    } catch (error) {
      await reservation.release()
      throw health.refusalFor(error)
    }
  }

  /** A file too large for any account gets that refusal, even where this account is full. */
  refusalFor(error: unknown, most: number | null): unknown {
    const { maxFileSize } = this.#parts
    const isTooLarge = most !== null && most > maxFileSize
    return isTooLarge && isStorageLimit(error) ? fileTooLarge(maxFileSize) : error
  }

  async #reserve(
    caller: Sender,
    { least, most }: { readonly least: number; readonly most: number },
  ): Promise<ReservedUpload> {
    const { reservations, random, maxFileSize } = this.#parts
    if (most > 0 && most <= Math.min(MOST_BUFFERED, maxFileSize)) {
      const reservation = await reservations.reserveSmall(caller, least, most)
      if (reservation !== null) return { key: reservation.key, reservation }
    }
    const key = makeBlobKey(random)
    return { key, reservation: await reservations.reserve(caller, key, least, Math.min(most, maxFileSize)) }
  }
}

function isStorageLimit(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'STORAGE_LIMIT_EXCEEDED'
}

interface Parts {
  readonly health: StoreHealth
  readonly commit: FileCommit
  readonly maxFileSize: number
}

interface FinishOptions {
  readonly alongside?: Settle | null
  readonly link?: FileLink | null
  readonly note?: KeyNote | null
}

interface Target {
  readonly account: AccountId
  readonly address: string | null
  readonly folder: FolderId
  readonly key: BlobKey
}

/** After any error only `abort` makes sense. */
export class DirectUpload {
  readonly #parts: Parts
  readonly #target: Target
  readonly #reservation: RequestReservation
  /** Begun with the upload, so that the disk works while the bytes come. */
  readonly #recorded: Promise<void>
  readonly #content: IncomingContent
  readonly #head = new FileHead()
  #received = 0
  #isComplete = false
  #isStored = false

  constructor(parts: Parts, target: Target, reservation: RequestReservation, content: IncomingContent) {
    this.#parts = parts
    this.#target = target
    this.#reservation = reservation
    this.#recorded = reservation.recorded()
    this.#content = content
  }

  get key(): BlobKey {
    return this.#target.key
  }

  /** Takes up to `most` bytes. Throws Refusal when a limit is passed or the store fails. */
  async write(chunk: Uint8Array, most = Number.POSITIVE_INFINITY): Promise<void> {
    this.#received += chunk.byteLength
    if (this.#received > most) throw new Refusal('INVALID_REQUEST', 'The file is longer than was declared')
    assertFileSize(this.#received, this.#parts.maxFileSize)
    await this.#reservation.cover(this.#received)
    this.#head.take(chunk)
    await this.#storing(() => this.#content.write(chunk))
  }

  /** Returns once bytes, row, `note` and the effects of `alongside` would survive a power cut. */
  async finish(
    rawName: string,
    declaredType: string | null,
    { alongside = null, link = null, note = null }: FinishOptions = {},
  ): Promise<StoredFile> {
    const digest = await this.#storing(() => this.#content.complete(this.#recorded))
    this.#isComplete = true
    const upload = {
      ...this.#target,
      digest,
      size: this.#received,
      head: this.#head.bytes(),
      name: cleanFileName(rawName),
      declaredType,
      link,
      note,
    }
    const settle: Settle = async (trx, stored) => {
      await this.#reservation.use(trx)
      await alongside?.(trx, stored)
    }
    const settled = this.#reservation.settle(this.#received)
    const file = await this.#parts.commit.commit(upload, settle, alongside === null)
    this.#isStored = true
    this.#reservation.used()
    await settled
    return file
  }

  /** Leaves nothing behind. Harmless after `finish`. */
  async abort(): Promise<void> {
    if (this.#isStored) return
    try {
      // Once the row may exist, the bytes may belong to a file: releasing the reservation asks the database.
      if (!this.#isComplete) await this.#content.abort()
    } finally {
      await this.#reservation.release()
    }
  }

  async #storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#parts.health.refusalFor(error)
    }
  }
}

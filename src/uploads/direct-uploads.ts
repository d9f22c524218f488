import type { BlobStore } from '../blobs/blob-store.ts'
import { ownerOf, reachOf, type Sender } from '../core/callers.ts'
import type { Signing } from '../core/hmac.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import type { BlobKey, FolderId, FolderPlace } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { resolvePlace } from '../files/folders/places.ts'
import type { FileCommit } from './commit.ts'
import { BufferedContent, MOST_BUFFERED } from './content/buffered-content.ts'
import { StreamedContent } from './content/streamed-content.ts'
import { DirectUpload } from './direct-upload.ts'
import { guestAddress } from './guest-admission.ts'
import type { ContentHashing } from './hashing/content-hash.ts'
import type { RequestReservation } from './request-reservation.ts'
import type { Reservations } from './reservations.ts'
import { assertFileSize, fileTooLarge } from './size-limit.ts'

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

/** A folder into which a file may be stored. */
export interface AdmittedPlace {
  readonly folder: FolderId
  /** What is reserved already, for `begin` to take. */
  readonly reserved: ReservedUpload | null
  /** That the account has no space, where the file may be too large for any: to be thrown once its size is known. */
  readonly refusal: Refusal | null
}

interface ReservedUpload {
  readonly key: BlobKey
  readonly reservation: RequestReservation
}

/** Bodies of so many bytes are reserved before they come: their senders keep nothing from others by being slow. */
const RESERVED_AT_ONCE = 1024 * 1024

/** Uploads whose bytes come in one request: forms and raw bodies. */
export class DirectUploads {
  readonly #parts: DirectUploadParts

  constructor(parts: DirectUploadParts) {
    this.#parts = parts
  }

  /**
   * Refuses, before anything is read, what could not be stored anyway. `least` is what the file weighs at least. Returns
   * the folder at the place, and the refusal for want of space. Throws Refusal FOLDER_NOT_FOUND or FILE_TOO_LARGE.
   */
  async #check(
    caller: Sender,
    place: FolderPlace,
    least: number,
  ): Promise<Pick<AdmittedPlace, 'folder' | 'refusal'>> {
    const { db, health, reservations, maxFileSize } = this.#parts
    health.assertUsable()
    // Asked at once; what is refused first does not depend on what is answered first.
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

  /**
   * The same, for a file that `finish` stores with nothing alongside and whose body declares `declared` bytes: a small one is
   * reserved with the look at the folder. Whoever does not come to `begin` must call `leave`.
   */
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

  /** Gives up what was reserved. Harmless after `begin`, whose upload has it then. */
  async leave({ reserved }: AdmittedPlace): Promise<void> {
    await reserved?.reservation.release()
  }

  /**
   * Begins an upload into a folder that `admit` has found: storage is reserved before a byte is stored. `size` is
   * what the file weighs at least and at most, as far as the request tells.
   * Throws Refusal FILE_TOO_LARGE, STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE, RATE_LIMITED.
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

  /**
   * What the sender is told: a file of `most` bytes that is too large for any account is told so, also where this one has no
   * space. `most`: null where the file is not known yet.
   */
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

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

import type { BlobStore } from '../blobs/blob-store.ts'
import { ownerOf, reachOf, type Sender } from '../core/callers.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import type { FolderId, FolderPlace } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { placeOf } from '../files/folders/places.ts'
import type { FileCommit } from './commit.ts'
import { DirectUpload } from './direct-upload.ts'
import type { ContentHashing } from './hashing/content-hash.ts'
import type { Reservations } from './reservations.ts'
import { assertFileSize } from './size-limit.ts'

export interface DirectUploadParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly health: StoreHealth
  readonly hashing: ContentHashing
  readonly reservations: Reservations
  readonly commit: FileCommit
  readonly random: Random
  readonly maxFileSize: number
}

/** Uploads whose bytes come in one request: forms and raw bodies. */
export class DirectUploads {
  readonly #parts: DirectUploadParts

  constructor(parts: DirectUploadParts) {
    this.#parts = parts
  }

  /**
   * Refuses, before anything is read, what could not be stored anyway. `least` is what the file weighs at least. Returns
   * the folder at the place. Throws Refusal as `begin` does, and FOLDER_NOT_FOUND.
   */
  async check(caller: Sender, place: FolderPlace, least: number): Promise<FolderId> {
    const { db, health, reservations, maxFileSize } = this.#parts
    health.assertUsable()
    // Asked at once; what is refused first does not depend on what is answered first.
    const [folder, space] = await Promise.allSettled([
      placeOf(db, reachOf(caller), place),
      reservations.check(caller, least),
    ])
    if (folder.status === 'rejected') throw folder.reason
    assertFileSize(least, maxFileSize)
    if (space.status === 'rejected') throw space.reason
    return folder.value
  }

  /**
   * Begins an upload into a folder that `check` has found: storage is reserved before a byte is stored. `size` is what
   * the file weighs at least and at most, as far as the request tells.
   * Throws Refusal FILE_TOO_LARGE, STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE, RATE_LIMITED.
   */
  async begin(
    caller: Sender,
    folder: FolderId,
    size: { readonly least: number; readonly most: number },
  ): Promise<DirectUpload> {
    const { blobs, health, reservations, random, maxFileSize } = this.#parts
    const account = ownerOf(caller)
    const key = makeBlobKey(random)
    const reservation = await reservations.reserve(caller, key, size.least, Math.min(size.most, maxFileSize))
    try {
      const writer = await blobs.create(key)
      return new DirectUpload(this.#parts, { account, folder, key }, reservation, writer)
    } catch (error) {
      await reservation.release()
      throw health.refusalFor(error)
    }
  }
}

import type { BlobStore } from '../blobs/blob-store.ts'
import type { StorePlace } from '../config.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { isSyncedAsWhole, openBlobs, type StoreSettings, syncFileSystem } from '../storage.ts'
import type { BackupStore } from './backup-encryption.ts'

/** Bytes between background syncs, so that the last one is short. */
const SYNC_EVERY = 256 * 1024 * 1024

export interface Durability {
  readonly isSyncedLater: boolean
  wrote(bytes: number): void
  /** Called with each copied content. Throws StoreFailure once a sync has failed. */
  copied(key: BlobKey): void
  /** Everything copied is durable when it returns. Throws StoreFailure. */
  settle(): Promise<void>
  /** After a failed sync the page cache still holds bytes that the next run would trust. Never throws. */
  removeLost(store: Pick<BackupStore, 'removeAll'>): Promise<void>
}

export async function openToFill(parts: {
  readonly config: StoreSettings
  readonly random: Random
}): Promise<{ readonly blobs: BlobStore; readonly durability: Durability }> {
  const blobs = await openBlobs(parts, false)
  if (parts.config.s3 !== null) return { blobs, durability: synced }
  const durability = await durabilityOf({ kind: 'folder', path: parts.config.dataDir })
  const { isSyncedLater } = durability
  return { blobs: isSyncedLater ? await openBlobs(parts, false, { isSyncedLater }) : blobs, durability }
}

/**
 * Syncs the file system as a whole where possible: one sync a content takes longer than all else. After a power cut the
 * next run compares the contents that no point names with their hashes.
 */
export async function durabilityOf(place: StorePlace): Promise<Durability> {
  if (place.kind === 's3' || !(await isSyncedAsWhole(place.path))) return synced
  return new SyncedLater(place.path)
}

/** Each content is durable when it is complete. */
export const synced: Durability = {
  isSyncedLater: false,
  wrote() {},
  copied() {},
  async settle() {},
  async removeLost() {},
}

class SyncedLater implements Durability {
  readonly isSyncedLater = true
  readonly #folder: string
  #written = 0
  #unsynced: BlobKey[] = []
  #syncing: Promise<void> | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  wrote(bytes: number): void {
    this.#written += bytes
    if (this.#written >= SYNC_EVERY && this.#syncing === null) void this.#sync()
  }

  copied(key: BlobKey): void {
    this.#unsynced.push(key)
    if (this.#failure !== null) throw this.#failure.error
  }

  async settle(): Promise<void> {
    await this.#syncing
    await this.#sync()
    if (this.#failure !== null) throw this.#failure.error
  }

  async removeLost(store: Pick<BackupStore, 'removeAll'>): Promise<void> {
    await this.#syncing
    if (this.#failure !== null) await store.removeAll(this.#unsynced, () => {}).catch(() => {})
  }

  /** Never throws. A failed sync is final: later ones do not make up for it. */
  #sync(): Promise<void> {
    const count = this.#unsynced.length
    this.#written = 0
    this.#syncing = syncFileSystem(this.#folder)
      .then(() => {
        if (this.#failure === null) this.#unsynced = this.#unsynced.slice(count)
      })
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#syncing = null
      })
    return this.#syncing
  }
}

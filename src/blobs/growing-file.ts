import { fstatSync, writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { BlobDamaged } from './blob-store.ts'
import type { DirectFile } from './direct-writing.ts'
import { diskStoreFailure, syncDirectory } from './disk-files.ts'
import type { DiskLayout } from './disk-layout.ts'

/** Bytes after which a growing file is synced in the background, so that the last sync is short. */
const SYNC_EVERY = 4 * 1024 * 1024

/** An open file. */
interface Handle {
  readonly fd: number
  /** Harmless when repeated. */
  close(): void | Promise<void>
}

export interface GrowingFileParts {
  readonly handle: Handle
  readonly path: string
  /** The same file. */
  readonly direct: DirectFile
  /** Syncs the file. */
  readonly sync: () => Promise<void>
  /** Present size of the file, all of which is durable. */
  readonly from: number
}

/** A file that is written sequentially and synced in the background. After a failure every method throws StoreFailure. */
export class GrowingFile {
  readonly #parts: GrowingFileParts
  #position: number
  /** Null before the first sync, which a new file needs even when it is empty. */
  #synced: number | null = null
  #syncingUpTo: number
  #syncing: Promise<void> | null = null
  /** Pending writes in the order of their calls, each with its position. They may end in any order. */
  readonly #writing = new Map<Promise<void>, number>()
  #failure: Error | null = null

  constructor(parts: GrowingFileParts) {
    this.#parts = parts
    this.#position = parts.from
    this.#syncingUpTo = parts.from
  }

  /** Position of the next byte. */
  get position(): number {
    return this.#position
  }

  /** Every byte before it would survive a power cut. */
  get synced(): number {
    return this.#synced ?? this.#parts.from
  }

  /** As in BlobWriter. Only writes past the page cache run in parallel. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#assertGoing()
    const from = this.#position
    this.#position += chunk.byteLength
    const work = this.#writeAt(chunk, from)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#writing.delete(work))
    this.#writing.set(work, from)
    await work
    this.#assertGoing()
    if (this.#syncing === null && this.#written() - this.#syncingUpTo >= SYNC_EVERY) this.#startSync()
  }

  /** Returns once all written bytes would survive a power cut. */
  async sync(): Promise<void> {
    await Promise.all(this.#writing.keys())
    await this.#syncing
    this.#assertGoing()
    // A sync with nothing to do costs nearly as much as another one.
    if (this.#synced === this.#position) return
    await this.#startSync()
    this.#assertGoing()
  }

  /**
   * Closes the file, which is synced, and moves it to its final place. Returns once that would survive a power cut: its
   * size. Throws BlobDamaged, and leaves the file where it is, when it has another size than was written.
   */
  async publish(layout: DiskLayout, key: BlobKey): Promise<number> {
    const { handle, path } = this.#parts
    const { size } = fstatSync(handle.fd)
    assertWritten(key, size, this.#position)
    await this.close()
    await rename(path, layout.finished(key))
    await syncDirectory(layout.shard(key))
    return size
  }

  /** Waits for pending writes and closes the file. Never throws; harmless when repeated. */
  async close(): Promise<void> {
    this.#failure ??= new Error('the file was closed')
    await Promise.all(this.#writing.keys())
    await this.#syncing
    await this.#parts.direct.close()
    await closed(this.#parts.handle)
  }

  #assertGoing(): void {
    if (this.#failure !== null) throw this.#failure
  }

  #fail(error: unknown): void {
    this.#failure ??= diskStoreFailure(error)
  }

  /** Every byte before it is written. */
  #written(): number {
    const [first = this.#position] = this.#writing.values()
    return first
  }

  /** A failed sync is final: the kernel may have dropped the bytes, and another sync would succeed all the same. */
  #startSync(): Promise<void> {
    const upTo = this.#written()
    this.#syncingUpTo = upTo
    this.#syncing = this.#syncUpTo(upTo)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#syncing = null
      })
    return this.#syncing
  }

  async #syncUpTo(upTo: number): Promise<void> {
    const { synced, position } = this
    assertInvariant(
      'synced-grows-up-to-written',
      synced <= upTo && upTo <= position,
      () => `${synced} synced, ${upTo} to be synced, ${position} written`,
    )
    await this.#parts.sync()
    this.#synced = upTo
  }

  async #writeAt(bytes: Uint8Array, from: number): Promise<void> {
    const { direct } = this.#parts
    const done = direct.mayTake(bytes, from) ? await direct.write(bytes, from) : 0
    this.#writeCached(bytes.subarray(done), from + done)
  }

  /**
   * Writes to the page cache, synchronously: during an asynchronous write the server would buffer what each sender sends,
   * which takes more memory with many senders and more time with one.
   */
  #writeCached(bytes: Uint8Array, from: number): void {
    const { fd } = this.#parts.handle
    for (let done = 0; done < bytes.byteLength; ) {
      done += writeSync(fd, bytes, done, bytes.byteLength - done, from + done)
    }
  }
}

async function closed(handle: Handle): Promise<void> {
  try {
    await handle.close()
  } catch {
    // All that matters was synced before.
  }
}

/** Throws BlobDamaged, caused by InvariantViolated, unless both sizes are equal. */
function assertWritten(key: BlobKey, stored: number, written: number): void {
  try {
    assertInvariant('file-size-is-position', stored === written, () => `${stored} stored, ${written} written`)
  } catch (cause) {
    throw new BlobDamaged(key, stored, written, { cause })
  }
}

import { fstatSync, writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { BlobDamaged } from './blob-store.ts'
import type { DirectFile } from './direct-writing.ts'
import { diskStoreFailure, syncDirectory } from './disk-files.ts'
import type { DiskLayout } from './disk-layout.ts'

/** Bytes between background syncs, which keep the last sync short. */
const SYNC_EVERY = 4 * 1024 * 1024

interface Handle {
  readonly fd: number
  /** Harmless when repeated. */
  close(): void | Promise<void>
}

export interface GrowingFileParts {
  readonly handle: Handle
  readonly path: string
  readonly direct: DirectFile
  readonly sync: () => Promise<void>
  /** Present size, all of it durable. */
  readonly from: number
}

/** Written sequentially, synced in the background. After a failure every method throws StoreFailure. */
export class GrowingFile {
  readonly #parts: GrowingFileParts
  #position: number
  /** Null before the first sync, which a new file needs even when empty. */
  #synced: number | null = null
  #syncingUpTo: number
  #syncing: Promise<void> | null = null
  /** Pending writes in call order, by position. They may end in any order. */
  readonly #writing = new Map<Promise<void>, number>()
  #failure: Error | null = null

  constructor(parts: GrowingFileParts) {
    this.#parts = parts
    this.#position = parts.from
    this.#syncingUpTo = parts.from
  }

  get position(): number {
    return this.#position
  }

  /** Every byte before it would survive a power cut. */
  get synced(): number {
    return this.#synced ?? this.#parts.from
  }

  /** As in BlobWriter. Only O_DIRECT writes run in parallel. */
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
    // A sync with nothing to do costs nearly as much as any other.
    if (this.#synced === this.#position) return
    await this.#startSync()
    this.#assertGoing()
  }

  /** Returns the size once the final name is durable. Throws BlobDamaged, leaving the file, for a wrong size. */
  async publish(layout: DiskLayout, key: BlobKey): Promise<number> {
    const { handle, path } = this.#parts
    const { size } = fstatSync(handle.fd)
    assertWritten(key, size, this.#position)
    await this.close()
    await rename(path, layout.finished(key))
    await syncDirectory(layout.shard(key))
    return size
  }

  /** Waits for pending writes. Never throws; harmless when repeated. */
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

  /** Synchronous: during an asynchronous write the server would buffer what clients send. */
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

/** Throws BlobDamaged, caused by InvariantViolated. */
function assertWritten(key: BlobKey, stored: number, written: number): void {
  try {
    assertInvariant('file-size-is-position', stored === written, () => `${stored} stored, ${written} written`)
  } catch (cause) {
    throw new BlobDamaged(key, stored, written, { cause })
  }
}

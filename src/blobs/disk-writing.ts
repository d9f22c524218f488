import { constants, fstatSync, writeSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import type { BlobKey, BlobProgress } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { assertAllKept, completedBlob } from './adapters.ts'
import { assertSize, BlobDamaged, BlobMissing, type KeptBlob, type ResumableWriter } from './blob-store.ts'
import {
  asDiskFailures,
  type DiskLayout,
  diskStoreFailure,
  hasCode,
  statOfFile,
  syncDirectory,
  WritableFile,
} from './disk-files.ts'

/** Bytes between background syncs, which keep the last sync short. */
const SYNC_EVERY = 4 * 1024 * 1024

interface Handle {
  readonly fd: number
  /** Harmless when repeated. */
  close(): void | Promise<void>
}

interface GrowingFileParts {
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

/** Alignment of address, length and position: enough for every known disk. */
const PAGE = 4096

/** Bytes before it stay cached: the beginning of a file is likely to be read soon. */
const FROM = 16 * 1024 * 1024

export class DirectWriting {
  #isRefused = !constants.O_DIRECT

  start(path: string): DirectFile {
    return new DirectFile(this, path)
  }

  /** Shared memory is aligned to pages; other memory may not be. */
  mayTake(bytes: Uint8Array, position: number): boolean {
    if (this.#isRefused || position < FROM || bytes.byteLength === 0) return false
    if (!(bytes.buffer instanceof SharedArrayBuffer)) return false
    return [position, bytes.byteOffset, bytes.byteLength].every((number) => number % PAGE === 0)
  }

  /** Null where the file system refuses O_DIRECT, which is not tried again. */
  async unlessRefused<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (!hasCode(error, 'EINVAL')) throw error
      this.#isRefused = true
      return null
    }
  }
}

export class DirectFile {
  readonly #writing: DirectWriting
  readonly #path: string
  /** Null where opening fails: a removed file does not affect the other handle. */
  #handle: Promise<FileHandle | null> | null = null

  constructor(writing: DirectWriting, path: string) {
    this.#writing = writing
    this.#path = path
  }

  mayTake(bytes: Uint8Array, position: number): boolean {
    return this.#writing.mayTake(bytes, position)
  }

  /** Returns the bytes written; the rest is for the other handle. Not durable before a sync. */
  async write(bytes: Uint8Array, position: number): Promise<number> {
    this.#handle ??= this.#open()
    const handle = await this.#handle
    if (handle === null) return 0
    const written = await this.#writing.unlessRefused(() =>
      handle.write(bytes, 0, bytes.byteLength, position),
    )
    return written?.bytesWritten ?? 0
  }

  #open(): Promise<FileHandle | null> {
    return this.#writing
      .unlessRefused(() => open(this.#path, constants.O_WRONLY | constants.O_DIRECT))
      .catch(() => null)
  }

  /** Never throws. No write may be pending. */
  async close(): Promise<void> {
    const handle = await this.#handle
    this.#handle = null
    await handle?.close().catch(() => {})
  }
}

interface DiskSessionParts {
  readonly layout: DiskLayout
  readonly direct: DirectWriting
  readonly mode: number
}

/** A constant: the offset and the file suffice to continue. */
const PROGRESS = 'disk' as BlobProgress

export async function resumeOnDisk(
  parts: DiskSessionParts,
  key: BlobKey,
  kept: KeptBlob | null,
): Promise<ResumableWriter> {
  const path = parts.layout.growing(key)
  if (kept === null) {
    const created = await asDiskFailures(() => WritableFile.create(path, parts.mode))
    return new DiskSession(parts, key, created, null)
  }
  const handle = await asDiskFailures(() => WritableFile.existing(path))
  if (handle === null) return completedFile(parts.layout, key, kept)
  try {
    // Bytes that were written and not kept may be garbage after a power cut.
    await asDiskFailures(() => handle.cutTo(kept.offset, key))
  } catch (error) {
    handle.close()
    throw error
  }
  return new DiskSession(parts, key, handle, kept)
}

async function completedFile(layout: DiskLayout, key: BlobKey, kept: KeptBlob): Promise<ResumableWriter> {
  const size = (await statOfFile(layout.finished(key), key))?.size ?? null
  if (size === null) throw new BlobMissing(key)
  assertSize(key, size, kept.offset)
  return completedBlob(kept, () => asDiskFailures(() => syncDirectory(layout.shard(key))))
}

class DiskSession implements ResumableWriter {
  readonly #layout: DiskLayout
  readonly #key: BlobKey
  readonly #handle: WritableFile
  readonly #file: GrowingFile
  #kept: KeptBlob | null
  /** Whether the file's name is durable or need not be. */
  #isNameDurable: boolean

  constructor(
    { layout, direct }: DiskSessionParts,
    key: BlobKey,
    handle: WritableFile,
    kept: KeptBlob | null,
  ) {
    this.#layout = layout
    this.#key = key
    this.#handle = handle
    this.#kept = kept
    this.#isNameDurable = kept !== null
    const path = layout.growing(key)
    this.#file = new GrowingFile({
      handle,
      path,
      direct: direct.start(path),
      sync: () => this.#sync(),
      from: kept?.offset ?? 0,
    })
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#file.write(chunk)
  }

  async keep(): Promise<KeptBlob> {
    if (this.#kept?.offset !== this.#file.position) await this.#file.sync()
    const { position, synced } = this.#file
    await asDiskFailures(async () =>
      assertInvariant('kept-is-written', synced === position, () => `${synced} synced, ${position} written`),
    )
    this.#kept = { offset: position, progress: PROGRESS }
    return this.#kept
  }

  safe(): KeptBlob | null {
    const { synced } = this.#file
    if (synced <= (this.#kept?.offset ?? 0)) return null
    this.#kept = { offset: synced, progress: PROGRESS }
    return this.#kept
  }

  async makeReadable(): Promise<void> {}

  async complete(): Promise<number> {
    assertAllKept(this.#kept, this.#file.position)
    this.#isNameDurable = true
    if (this.#kept === null) await this.#file.sync()
    return asDiskFailures(() => this.#file.publish(this.#layout, this.#key))
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** A new file also needs its name durable. */
  async #sync(): Promise<void> {
    await this.#handle.datasync()
    if (!this.#isNameDurable) await syncDirectory(this.#layout.resumable)
    this.#isNameDurable = true
  }
}

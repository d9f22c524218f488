import type { BlobKey, BlobProgress, Sha256 } from '../domain/ids.ts'

/** A blob is written once, becomes readable as a whole when completed, and never changes after that. */
export interface BlobStore {
  /** Whether opening removes unfinished blobs of `create` from an earlier process: their keys need no record. */
  readonly dropsUnfinished: boolean

  readonly readsGrowing: boolean

  /** Starts a blob. It cannot be read before the writer's `complete` has returned. */
  create(key: BlobKey, length?: number | null): Promise<BlobWriter>

  /**
   * Stores a small blob in one piece. Returns once it would survive a power cut. Record the key durably before: until
   * then, and after a failure, some bytes may stand under the blob's own name. `sha256` lets a store detect corruption
   * in transit. Throws StoreFailure.
   */
  put(key: BlobKey, bytes: Uint8Array<ArrayBuffer>, sha256: Sha256): Promise<void>

  /**
   * Opens a write session of a resumable blob: a new one (`null`), or one continued where `kept`, the state
   * recorded last by any process, ends. Later bytes are discarded. A blob without recorded state must be
   * removed before it is started again. `length`: total bytes, where known.
   * A blob has one session at a time: the previous one was closed, or its process has ended. A late write of
   * a dead session never gets into the blob undetected.
   * A completed blob may be completed again, but takes no more bytes. Throws BlobMissing when the kept bytes
   * are lost or have changed, and BlobDamaged when some are lost. Retries cannot help then.
   */
  resume(key: BlobKey, kept: KeptBlob | null, length?: number | null): Promise<ResumableWriter>

  /**
   * The bytes from `start` to `end` (exclusive): all of them, or a failure. `size`: of the whole blob, where known.
   * Throws BlobMissing, and BlobDamaged for a blob of another size. Blobs are removed only some time after their last
   * reference, so a blob stays while it is read. Read the chunks by `eachChunk` or `readInto`, or call `next` to the end
   * or `cancel`.
   */
  read(key: BlobKey, start: number, end: number, size?: number): Promise<BlobChunks>

  /** Opens a blob with recorded state, which the caller closes, also while it grows. Throws BlobMissing. */
  openGrowing(key: BlobKey): Promise<GrowingBlob>

  size(key: BlobKey): Promise<number | null>

  /** Removes the blob, complete or not, and everything kept of it. Removing a missing blob succeeds. */
  remove(key: BlobKey): Promise<void>

  /** `remove` in fewer requests where possible. Returns the removed keys; `failed` gets the reasons for the others. */
  removeAll(keys: readonly BlobKey[], failed: (error: unknown) => void): Promise<BlobKey[]>

  /** All blobs, some twice, also unfinished ones: only the database can tell these from garbage. */
  list(): AsyncIterable<ListedBlob>

  /**
   * Ends multipart uploads begun before that time (milliseconds since the epoch) and abandoned: a request to begin one
   * may take effect after its sender gave up, even beside a complete blob. `isUnderWay`: whether the blob is still
   * being written. Throws StoreFailure.
   */
  endForgotten(before: number, isUnderWay: (key: BlobKey) => Promise<boolean>): Promise<void>

  freeSpace(): Promise<number | null>

  /** Writes, syncs, reads back and removes a small blob. Throws StoreFailure. */
  probe(): Promise<void>

  /** The mark that ties the store to its database. `list` does not include it. */
  readMark(copy?: MarkCopy): Promise<string | null>

  /** Returns once the mark would survive a power cut. Replaces this copy atomically, and no other. */
  writeMark(mark: string, copy?: MarkCopy): Promise<void>

  /** A signed address at the store, for any client; null where unsupported. Does not check that the blob exists. */
  link(key: BlobKey, options: LinkOptions): Promise<string | null>
}

/** The second copy is for stores whose mark must not be lost with one object. */
export type MarkCopy = 'mark' | 'mark-copy'

export interface ListedBlob {
  readonly key: BlobKey
  /** Null for an unfinished or unreadable one. */
  readonly size: number | null
  /** By the store's clock, in milliseconds since the epoch; null as its size is. */
  readonly storedAt: number | null
}

export interface LinkOptions {
  readonly seconds: number
  readonly type: string
  readonly disposition: string
}

/** An open blob that may still grow, and stays readable when removed. */
export interface GrowingBlob {
  /** End of the bytes readable from `start` on; `start` itself where a session must `makeReadable` first. */
  readableFrom(start: number, kept: KeptBlob): Promise<number>

  /**
   * Do not use the target until the promise is settled. Throws StoreFailure, and BlobMissing where `readableFrom` has to
   * find the bytes anew.
   */
  readInto(start: number, target: Uint8Array): Promise<void>

  /** Never throws. No read may be in progress. */
  close(): Promise<void>
}

/** Bytes in their order, read on demand. One call of `next` at a time. A removed blob stays readable to the end. */
export interface BlobChunks {
  /**
   * Null at the end and after `cancel`. A chunk is valid until `next` was called twice more. Throws BlobDamaged for lost
   * bytes, BlobUnreadable and StoreFailure.
   */
  next(): Promise<Uint8Array | null>

  /** Closes the file or connection, as the end and a failure do. Never throws; harmless after the end. */
  cancel(): void

  /** Gives back the chunks' memory after the end. No chunk may be in use. */
  release(): void
  /** Fills a target of the whole length instead of `next`, where that saves a copy. */
  readAll?(target: Uint8Array): Promise<void>
}

/** Reads one chunk ahead, and cancels when left early. A chunk is valid until the next one is asked for. */
export async function* eachChunk(chunks: BlobChunks): AsyncGenerator<Uint8Array> {
  let isWhole = false
  try {
    let next = chunks.next()
    for (;;) {
      const chunk = await next
      isWhole = chunk === null
      if (chunk === null) return
      next = chunks.next()
      // It may fail before it is awaited.
      next.catch(() => {})
      yield chunk
    }
  } finally {
    if (isWhole) chunks.release()
    else chunks.cancel()
  }
}

/** Fills the target from byte `start` of the blob. Throws as `read` and its chunks do. */
export async function readInto(
  blobs: Pick<BlobStore, 'read'>,
  key: BlobKey,
  start: number,
  target: Uint8Array,
  size?: number,
): Promise<void> {
  await fill(target, await blobs.read(key, start, start + target.length, size))
}

/** The target has the length of all chunks. */
export async function fill(target: Uint8Array, chunks: BlobChunks): Promise<void> {
  if (chunks.readAll !== undefined) return chunks.readAll(target)
  let filled = 0
  for await (const chunk of eachChunk(chunks)) {
    target.set(chunk, filled)
    filled += chunk.length
  }
}

/** Every method throws StoreFailure when the store cannot take the bytes; then only `abort` makes sense. */
export interface BlobWriter {
  /** The chunk may be reused, and more written, once this resolves. Earlier calls are written in their order. */
  write(chunk: Uint8Array): Promise<void>

  /**
   * Returns the stored size once the blob is whole, readable, and would survive a power cut. With `recorded` it gets
   * its final name only once that has resolved; the bytes may be synced meanwhile.
   */
  complete(recorded?: Promise<void>): Promise<number>

  /** Removes everything written, also after a failed `complete`. Never throws for what is already gone. */
  abort(): Promise<void>
}

/** Durable state of a resumable blob. Record both fields together. */
export interface KeptBlob {
  /** Every byte before it would survive a power cut. */
  readonly offset: number
  readonly progress: BlobProgress
}

/**
 * A write session of a resumable blob. One call at a time, except for `write`. Every method throws
 * StoreFailure when the store cannot take the bytes; then only `close` makes sense, and another session may
 * continue from the recorded state.
 * Calling `keep` or `safe` confirms that the previous result of either was recorded. Until then the blob can
 * be resumed from that result and from the one before it, even after a kill.
 */
export interface ResumableWriter {
  write(chunk: Uint8Array): Promise<void>

  /** Returns once all written bytes would survive a power cut. */
  keep(): Promise<KeptBlob>

  /** What is durable already, without waiting. Null when it is no more than was kept before. */
  safe(): KeptBlob | null

  /**
   * Makes the recorded state, which must be all that was written, and all later bytes readable by `openGrowing`, where
   * the store can. Confirms the previous result of `keep` or `safe`; the one before is void.
   */
  makeReadable(): Promise<void>

  /**
   * Returns the size once the blob is whole, readable, and would survive a power cut. All bytes must have
   * been kept and recorded before, so that the record of a complete blob lacks nothing; a blob never kept may
   * be completed at once. Throws BlobMissing when kept bytes are lost or have changed (killed sessions may
   * have written beyond the blob's present end), and BlobDamaged when some are lost.
   */
  complete(): Promise<number>

  /** Kept bytes stay. Never throws; harmless after `complete`. */
  close(): Promise<void>
}

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'

  constructor(key: BlobKey, options?: ErrorOptions) {
    super(`blob ${key} is missing`, options)
  }
}

/** The stored size differs from the written one: bytes are lost, and retries cannot help. */
export class BlobDamaged extends Error {
  override readonly name = 'BlobDamaged'

  constructor(key: BlobKey, stored: number, size: number, options?: ErrorOptions) {
    super(`blob ${key} has ${stored} bytes instead of ${size}`, options)
  }
}

/** The store refuses this blob for good; the cause has its words. Every method of a writer throws it. */
export class BlobRefused extends Error {
  override readonly name = 'BlobRefused'

  constructor(options: ErrorOptions) {
    super('the store refuses the blob', options)
  }
}

export function assertSize(key: BlobKey, stored: number, size: number): void {
  if (stored !== size) throw new BlobDamaged(key, stored, size)
}

/** Throws StoreFailure for other bytes than were written. */
export function assertStored(key: BlobKey, stored: number, written: number): void {
  if (stored === written) return
  throw new StoreFailure('broken', { cause: new BlobDamaged(key, stored, written) })
}

export function isLost(error: unknown): error is BlobMissing | BlobDamaged {
  return error instanceof BlobMissing || error instanceof BlobDamaged
}

/**
 * Why the store cannot work now.
 * - `full`: out of space, until something is deleted.
 * - `away`: unreachable, too slow, or unable to serve, also after retries. Transient; earlier answers stay
 * valid.
 * - `refused`: access denied: a right, a key or the bucket is missing. An operator has to act.
 * - `broken`: not trustworthy until a probe has succeeded. Also the outcome of a violated invariant.
 */
export type StoreFailureReason = 'full' | 'away' | 'refused' | 'broken'

const meanings = {
  full: 'the blob store is full',
  away: 'the blob store is away',
  refused: 'the blob store refuses its service',
  broken: 'the blob store is broken',
} as const satisfies Record<StoreFailureReason, string>

export class StoreFailure extends Error {
  override readonly name: string = 'StoreFailure'

  constructor(
    readonly reason: StoreFailureReason,
    options?: ErrorOptions,
  ) {
    super(meanings[reason], options)
  }
}

/** A read error, as at a bad sector. Damage of this blob only if a retry fails too and other blobs can be read. */
export class BlobUnreadable extends StoreFailure {
  override readonly name = 'BlobUnreadable'

  constructor(key: BlobKey, options?: ErrorOptions) {
    super('broken', options)
    this.message = `blob ${key} cannot be read`
  }
}

/** Linux errors for a bad sector, damaged metadata and wrong checksums. */
const READ_FAULTS: readonly unknown[] = ['EIO', 'EUCLEAN', 'EBADMSG']

export function isUnreadable(error: unknown): boolean {
  if (error instanceof BlobUnreadable) return true
  return error instanceof Error && 'code' in error && READ_FAULTS.includes(error.code)
}

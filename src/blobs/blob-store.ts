import type { BlobKey, BlobProgress, Sha256 } from '../domain/ids.ts'

/**
 * Storage of bytes. A blob is written once, under a key of its own, becomes readable as a whole when it is completed,
 * and never changes after that.
 */
export interface BlobStore {
  /**
   * Whether opening the store removes blobs that an earlier process began to write in one session and did not complete:
   * until such a blob is completed, nothing else has to know its key.
   */
  readonly dropsUnfinished: boolean

  /** Whether growing blobs can be read without `makeReadable`. */
  readonly readsGrowing: boolean

  /** Starts a blob, of `length` bytes where that is known. It cannot be read before the writer's `complete` has returned. */
  create(key: BlobKey, length?: number | null): Promise<BlobWriter>

  /**
   * Stores a small blob in one piece. Returns once it would survive a power cut. The key must be recorded durably before, for
   * until then, and after a failure, some of the bytes may be there under the blob's own name, until it is removed. `sha256` is
   * that of the bytes, by which a store notices that they have changed on the way. Throws StoreFailure.
   */
  put(key: BlobKey, bytes: Uint8Array<ArrayBuffer>, sha256: Sha256): Promise<void>

  /**
   * Opens a write session of a resumable blob: of a new one (`null`), or of one that continues where `kept` ends, whichever
   * process kept it. Bytes that were written after that are discarded. `kept` must be the state that was recorded last. A
   * blob of which nothing was ever recorded must be removed before it is started again. `length`: bytes that the whole is to
   * have, where that is known.
   *
   * A blob has one session at a time: the previous one was closed, or its process has ended. A write of a dead session
   * that arrives late never gets into the blob undetected.
   *
   * A blob that was completed already may be completed again, but takes no more bytes. Throws BlobMissing when the kept
   * bytes are lost or have changed, and BlobDamaged when some of them are lost. Retries cannot help then.
   */
  resume(key: BlobKey, kept: KeptBlob | null, length?: number | null): Promise<ResumableWriter>

  /**
   * The bytes from `start` up to but not including `end`, as a body that the server can send by itself.
   * `size`, where it is known, is that of the whole blob. Throws BlobMissing, and BlobDamaged for a blob of another
   * size. Blobs are removed only some time after the last reference to them has gone, so a blob stays while it is sent. A
   * stream that cannot deliver all bytes fails with StoreFailure instead of ending early. It reads from the store on
   * demand, and releases the connection as soon as it is cancelled. That of a Blob fails with the error of the system, which
   * `isUnreadable` knows.
   */
  read(key: BlobKey, start: number, end: number, size?: number): Promise<BlobBody>

  /**
   * Opens a blob of `size` bytes, to be read into memory of the caller, who must close it; null from a store whose bytes
   * come in `chunks` of its own. Throws as `read` does.
   */
  open(key: BlobKey, size: number): Promise<OpenBlob | null>

  /**
   * Opens a resumable blob of which something was recorded, to be read while more is written and after it is completed. The
   * caller must close it. Throws BlobMissing.
   */
  openGrowing(key: BlobKey): Promise<GrowingBlob>

  /**
   * As `read`, in chunks that are passed on as they come, without a stream between; null from a store whose blobs can be
   * opened.
   */
  chunks(key: BlobKey, start: number, end: number, size?: number): Promise<BlobChunks | null>

  /**
   * Fills the target with the bytes from `start` on: for many small reads without an allocation for each. The target must
   * not be used until the promise is settled. Throws as `read` does, and StoreFailure where the blob ends too early.
   */
  readInto(key: BlobKey, start: number, target: Uint8Array, size?: number): Promise<void>

  /** The size in bytes, or null when there is no such blob. */
  size(key: BlobKey): Promise<number | null>

  /** When the blob was completed, by the store's clock, in milliseconds since the epoch; null when there is no such blob. */
  storedAt(key: BlobKey): Promise<number | null>

  /** Removes the blob, complete or not, and everything that was kept of it. Removing a missing blob succeeds. */
  remove(key: BlobKey): Promise<void>

  /**
   * Removes blobs as `remove` does, in fewer requests where the store has some for that. Returns the keys of those that are
   * gone; `failed` is told why the others are not.
   */
  removeAll(keys: readonly BlobKey[], failed: (error: unknown) => void): Promise<BlobKey[]>

  /**
   * All keys, some of them twice, in no particular order. Unfinished blobs are included, also those between two sessions:
   * only the database can tell these from garbage.
   */
  list(): AsyncIterable<BlobKey>

  /** Every complete blob with its size in bytes, in no particular order. */
  listSizes(): AsyncIterable<ListedBlob>

  /**
   * Ends multipart uploads that began before that time, in milliseconds since the epoch, and that nobody completes any more: a
   * request to begin one may be carried out after its sender has given it up, also beside a blob that is complete. `isUnderWay`:
   * whether the blob is still being written. Does nothing in a store that has no such uploads. Throws StoreFailure.
   */
  endForgotten(before: number, isUnderWay: (key: BlobKey) => Promise<boolean>): Promise<void>

  /** Bytes that may still be written, or null when the store does not know. */
  freeSpace(): Promise<number | null>

  /** Writes, syncs, reads back and removes a small blob. Throws StoreFailure when any of that fails. */
  probe(): Promise<void>

  /** The mark that ties the store to its database, or null when it has none. `list` does not include it. */
  readMark(copy?: MarkCopy): Promise<string | null>

  /** Returns once the mark would survive a power cut. Replaces an earlier one atomically, and no other copy of it. */
  writeMark(mark: string, copy?: MarkCopy): Promise<void>

  /**
   * A signed address at which the store itself sends the blob to anybody; null from a store that cannot. Does not check
   * whether the blob exists.
   */
  link(key: BlobKey, options: LinkOptions): Promise<string | null>
}

/** Name of the mark, and of a second one for stores whose mark holds what must not be lost with one object. */
export type MarkCopy = 'mark' | 'mark-copy'

export interface ListedBlob {
  readonly key: BlobKey
  readonly size: number
}

export interface LinkOptions {
  /** Lifetime of the address. A download that has begun continues after it. */
  readonly seconds: number
  /** Content-Type of the answer. */
  readonly type: string
  /** Content-Disposition of the answer, with the name of the file. */
  readonly disposition: string
}

/** An open blob. It can be read to its end even when it is removed meanwhile. */
export interface OpenBlob {
  /**
   * Fills the target with the bytes from `start` on. The target must not be used until the promise is settled. Throws
   * BlobDamaged for bytes that are lost, and StoreFailure.
   */
  readInto(start: number, target: Uint8Array): Promise<void>

  /** Closes the blob; never throws. No read may be in progress. */
  close(): Promise<void>
}

/** An open blob that may still grow. Where `readInto` throws BlobMissing, its bytes are elsewhere, which `readableFrom` finds. */
export interface GrowingBlob extends OpenBlob {
  /**
   * Up to where it can be read from `start` on, `kept` being what was recorded last: to `start` itself where a session has to
   * `makeReadable` it first.
   */
  readableFrom(start: number, kept: KeptBlob): Promise<number>
}

/** The bytes of a blob on their way. One call at a time. */
export interface BlobChunks {
  /** The next chunk, which stays as it is; null at the end, and once it is cancelled. Throws StoreFailure. */
  next(): Promise<Uint8Array | null>

  /** Releases the connection; never throws, and is harmless after the end. */
  cancel(): void
}

/** The chunks as a stream that reads on demand. */
export function streamOf(chunks: BlobChunks): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = await chunks.next()
        if (chunk === null) controller.close()
        else controller.enqueue(chunk)
      },
      cancel: () => chunks.cancel(),
    },
    { highWaterMark: 0 },
  )
}

export type BlobBody = Blob | ReadableStream<Uint8Array>

export function chunksOf(body: BlobBody): ReadableStream<Uint8Array> {
  return body instanceof Blob ? body.stream() : body
}

/** Throws StoreFailure from every method when the store cannot take the bytes; then only `abort` makes sense. */
export interface BlobWriter {
  /**
   * Takes the bytes. The chunk may be reused as soon as the promise is settled.
   * Resolves when the writer wants more: that is its backpressure. Callers with more memory may call again before that;
   * the bytes are written in the order of the calls.
   */
  write(chunk: Uint8Array): Promise<void>

  /**
   * Returns once the blob is whole, readable, and would survive a power cut: its size in the store. With `recorded` it
   * gets its final name only once that has resolved; the bytes may be synced meanwhile.
   */
  complete(recorded?: Promise<void>): Promise<number>

  /** Removes everything that was written, also after a failed `complete`. Never throws for what is already gone. */
  abort(): Promise<void>
}

/** How much of a resumable blob is durable. Callers record both fields together. */
export interface KeptBlob {
  /** Every byte before it would survive a power cut. */
  readonly offset: number
  readonly progress: BlobProgress
}

/**
 * A write session of a resumable blob. One call at a time, except for `write`. Throws StoreFailure from every method when
 * the store cannot take the bytes; then only `close` makes sense, and another session may continue from what was recorded.
 *
 * A call of `keep` or `safe` confirms that the previous result of either was recorded. Until then the blob can be
 * resumed from that result and from the one before it, whatever is killed in between.
 */
export interface ResumableWriter {
  /** As in BlobWriter. */
  write(chunk: Uint8Array): Promise<void>

  /** Returns once all written bytes would survive a power cut. */
  keep(): Promise<KeptBlob>

  /**
   * How much is durable already, without waiting: to be recorded in the middle of a long session. Less than was written.
   * Null when it is no more than was kept before.
   */
  safe(): KeptBlob | null

  /**
   * Makes readable by `openGrowing` what was recorded, which is all that was written, and what will be from now on. A store
   * that cannot do so leaves it. Confirms that the previous result of `keep` or `safe` was recorded: the one before is void.
   */
  makeReadable(): Promise<void>

  /**
   * Returns once the blob is whole, readable, and would survive a power cut: its size in the store. All of it must have
   * been kept and recorded before, so that the record of a blob that is found complete lacks nothing; a blob of which
   * nothing was ever kept may be completed at once. Throws BlobMissing when the kept bytes are lost or have changed, as they
   * may be where killed sessions wrote beyond the present end of the blob, and BlobDamaged when some of them are lost.
   */
  complete(): Promise<number>

  /** Ends the session and releases its resources. Kept bytes stay as they are. Never throws; harmless after `complete`. */
  close(): Promise<void>
}

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'

  constructor(key: BlobKey, options?: ErrorOptions) {
    super(`blob ${key} is missing`, options)
  }
}

/** The store has a blob of another size than was written: bytes are lost, and retries cannot bring them back. */
export class BlobDamaged extends Error {
  override readonly name = 'BlobDamaged'

  constructor(key: BlobKey, stored: number, size: number, options?: ErrorOptions) {
    super(`blob ${key} has ${stored} bytes instead of ${size}`, options)
  }
}

/**
 * The store works, and refuses for good what it was sent of this blob, or to make a blob of it; the cause has its words. Writers
 * throw it from every method. Retries, and the same bytes again, cannot help.
 */
export class BlobRefused extends Error {
  override readonly name = 'BlobRefused'

  constructor(options: ErrorOptions) {
    super('the store refuses the blob', options)
  }
}

/** Throws BlobDamaged unless both sizes are the same. */
export function assertSize(key: BlobKey, stored: number, size: number): void {
  if (stored !== size) throw new BlobDamaged(key, stored, size)
}

/** Throws StoreFailure unless the store has as many bytes as were written, whatever it says of them. */
export function assertStored(key: BlobKey, stored: number, written: number): void {
  if (stored === written) return
  throw new StoreFailure('broken', { cause: new BlobDamaged(key, stored, written) })
}

/** Whether the blob has lost bytes, some or all, for good. */
export function isLost(error: unknown): error is BlobMissing | BlobDamaged {
  return error instanceof BlobMissing || error instanceof BlobDamaged
}

/**
 * Why the store cannot work now.
 * - `full`: out of space, until something is deleted.
 * - `away`: unreachable, too slow, or unable to serve, also after retries. Transient; earlier answers stay valid.
 * - `refused`: it answers and denies access: a right, a key or the bucket is missing. An operator has to act.
 * - `broken`: its answers cannot be trusted until a probe has succeeded. Also the outcome of a violated invariant.
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

/**
 * The disk failed to read bytes of the blob, as it does where a sector is bad. That is damage of this blob only if another try fails
 * too and other blobs can be read.
 */
export class BlobUnreadable extends StoreFailure {
  override readonly name = 'BlobUnreadable'

  constructor(key: BlobKey, options?: ErrorOptions) {
    super('broken', options)
    this.message = `blob ${key} cannot be read`
  }
}

/** What Linux says of a bad sector, and file systems of damaged metadata and of wrong checksums. */
const READ_FAULTS: readonly unknown[] = ['EIO', 'EUCLEAN', 'EBADMSG']

/** Whether the disk failed to read, by the error of a store or of the body that it gave. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof BlobUnreadable) return true
  return error instanceof Error && 'code' in error && READ_FAULTS.includes(error.code)
}

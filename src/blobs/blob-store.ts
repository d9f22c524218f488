import type { BlobKey, BlobProgress } from '../domain/ids.ts'

/**
 * Where bytes live. A blob is written once under a key nobody else uses, becomes readable as a whole when it
 * is completed, and never changes after that.
 */
export interface BlobStore {
  /** Starts a blob. Nothing can be read under the key until the writer's `complete` has returned. */
  create(key: BlobKey): Promise<BlobWriter>

  /**
   * Starts a blob that is written in several sittings (`null`), or goes on where `kept` ends, whichever process kept
   * it; what was written after that is thrown away. What `kept` says must be the last that was recorded of it. Started
   * once more because nothing was ever recorded, it must be removed first.
   *
   * A blob has one sitting at a time: the one before was closed, or its process is gone. What a dead one still has on
   * its way never gets into the blob unseen.
   *
   * When `complete` had gone through already, it may be asked for again, and there is nothing more to be written.
   * Throws BlobMissing when what was kept is lost or not what it was, which nothing will mend.
   */
  resume(key: BlobKey, kept: KeptBlob | null): Promise<ResumableWriter>

  /**
   * The bytes from `start` up to but not including `end`, as a body that the server can send by itself.
   * `size`, where it is known, is that of the whole blob. Throws BlobMissing, and BlobDamaged for a blob of another
   * size. Nobody removes a blob before a while has passed since it was last pointed to, so what is being sent stays
   * there. A stream that cannot bring all of it fails with StoreFailure and never just ends; it reads from the store as
   * it is read from, and lets go of the store as soon as it is cancelled.
   */
  read(key: BlobKey, start: number, end: number, size?: number): Promise<BlobBody>

  /**
   * Fills the target with the bytes from `start` on, for many small reads that make nothing new. The target is the
   * store's own until the promise is settled. Throws as `read` does, and StoreFailure where the blob ends before that.
   */
  readInto(key: BlobKey, start: number, target: Uint8Array, size?: number): Promise<void>

  /** The size in bytes, or null when there is no such blob. */
  size(key: BlobKey): Promise<number | null>

  /**
   * Removes the blob and whatever is left of an unfinished one, all that was kept of it included. Removing a missing
   * blob succeeds.
   */
  remove(key: BlobKey): Promise<void>

  /**
   * Every key there is, some of them twice, in no particular order. Those of unfinished blobs are among them: also of
   * one that waits for its next sitting, which nothing but a row of the database tells from garbage.
   */
  list(): AsyncIterable<BlobKey>

  /** Bytes that may still be written, or null when the store does not know. */
  freeSpace(): Promise<number | null>

  /** Writes, syncs, reads back and removes a small blob. Throws StoreFailure when any of that fails. */
  probe(): Promise<void>

  /** The mark that ties the store to its database, or null when it never got one. No blob: `list` does not name it. */
  readMark(): Promise<string | null>

  /** Returns once the mark would survive a power cut. It takes the place of an earlier one as a whole. */
  writeMark(mark: string): Promise<void>

  /**
   * An address at which the store itself gives the blob out to whoever asks, without looking whether it is there;
   * null from a store that cannot.
   */
  link(key: BlobKey, options: LinkOptions): Promise<string | null>
}

export interface LinkOptions {
  /** For how long the address is good; a download that has begun goes on. */
  readonly seconds: number
  /** The Content-Type of the answer. */
  readonly type: string
  /** Its Content-Disposition as it stands in the header, the file's name included. */
  readonly disposition: string
}

export type BlobBody = Blob | ReadableStream<Uint8Array>

/** Throws StoreFailure from every method when the store cannot take the bytes; then only `abort` makes sense. */
export interface BlobWriter {
  /**
   * Takes the bytes. The chunk may be reused as soon as the promise is settled.
   * Resolves when the writer wants more, which is how it holds a fast sender back. Whoever has more memory may call again
   * before that: the bytes go in the order of the calls.
   */
  write(chunk: Uint8Array): Promise<void>

  /** Returns once the blob is whole, readable, and would survive a power cut: its size as the store has it. */
  complete(): Promise<number>

  /** Leaves nothing behind, also after a failed `complete`. Never throws for what is already gone. */
  abort(): Promise<void>
}

/** How far a blob is safe that is written in several sittings. Whoever writes it records both as one. */
export interface KeptBlob {
  /** Every byte before it would survive a power cut. */
  readonly offset: number
  readonly progress: BlobProgress
}

/**
 * One sitting of a blob that is written in several. One call at a time, but for `write`. Throws StoreFailure from every
 * method when the store cannot take the bytes; then only `close` makes sense, and another sitting may go on with what was
 * recorded.
 *
 * Asking for `keep` or `safe` says that what either returned before was recorded: until then both that and what was
 * recorded before it can be gone on with, whatever is killed in between.
 */
export interface ResumableWriter {
  /** As that of BlobWriter. */
  write(chunk: Uint8Array): Promise<void>

  /** Returns once all that was written would survive a power cut. */
  keep(): Promise<KeptBlob>

  /**
   * What is safe already, without waiting for anything, to be recorded in the middle of a long sitting; it ends
   * before what was written last. Null where that is no more than was kept before.
   */
  safe(): KeptBlob | null

  /**
   * Returns once the blob is whole, readable, and would survive a power cut: its size as the store has it. All of it
   * must have been kept and recorded before, so that whoever finds it whole knows that nothing is wanting; one of which
   * nothing was ever kept may be completed at once. Throws BlobMissing when what was kept is lost or not what it was. So
   * it may be where killed sittings had written on beyond the end that the blob has got now.
   */
  complete(): Promise<number>

  /**
   * Ends the sitting and lets go of what it holds; never throws. What was kept stays as it is, also that of a sitting
   * in which nothing was. Harmless after `complete`.
   */
  close(): Promise<void>
}

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'

  constructor(key: BlobKey, options?: ErrorOptions) {
    super(`blob ${key} is missing`, options)
  }
}

/** The store has a blob of another size than was put there: bytes are lost, and no further try brings them back. */
export class BlobDamaged extends Error {
  override readonly name = 'BlobDamaged'

  constructor(key: BlobKey, stored: number, size: number) {
    super(`blob ${key} has ${stored} bytes instead of ${size}`)
  }
}

/** Throws BlobDamaged unless both sizes are the same. */
export function assertSize(key: BlobKey, stored: number, size: number): void {
  if (stored !== size) throw new BlobDamaged(key, stored, size)
}

/** Whether the bytes of the blob are gone, all or some of them, which nothing will mend. */
export function isLost(error: unknown): error is BlobMissing | BlobDamaged {
  return error instanceof BlobMissing || error instanceof BlobDamaged
}

/**
 * The store cannot do its work now.
 * - `full`: passes when something is deleted.
 * - `away`: it could not be reached, did not answer in time or said that it cannot serve, also after some tries.
 *   Passes by itself, and takes back nothing that the store has said.
 * - `refused`: it answers and does not let us, for want of a right, a key or the bucket. A person has to see to that.
 * - `broken`: nothing that it says is to be believed until a probe has succeeded.
 */
export type StoreFailureReason = 'full' | 'away' | 'refused' | 'broken'

const meanings = {
  full: 'the blob store is full',
  away: 'the blob store is away',
  refused: 'the blob store refuses its service',
  broken: 'the blob store is broken',
} as const satisfies Record<StoreFailureReason, string>

export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'

  constructor(
    readonly reason: StoreFailureReason,
    options?: ErrorOptions,
  ) {
    super(meanings[reason], options)
  }
}

import type { BlobKey } from '../domain/ids.ts'

/**
 * Where bytes live. A blob is written once under a key nobody else uses, becomes readable as a whole when it
 * is completed, and never changes after that.
 */
export interface BlobStore {
  /** Starts a blob. Nothing can be read under the key until the writer's `complete` has returned. */
  create(key: BlobKey): Promise<BlobWriter>

  /**
   * The bytes from `start` up to but not including `end`, as a body that the server can send by itself.
   * Throws BlobMissing. Nobody removes a blob before a while has passed since it was last pointed to, so what
   * is being sent stays there.
   */
  read(key: BlobKey, start: number, end: number): Promise<BlobBody>

  /** The size in bytes, or null when there is no such blob. */
  size(key: BlobKey): Promise<number | null>

  /** Removes the blob and whatever is left of an unfinished one. Removing a missing blob succeeds. */
  remove(key: BlobKey): Promise<void>

  /** Every key there is, unfinished ones included, in no particular order. */
  list(): AsyncIterable<BlobKey>

  /** Bytes that may still be written, or null when the store does not know. */
  freeSpace(): Promise<number | null>

  /** Writes, syncs, reads back and removes a small blob. Throws StoreFailure when any of that fails. */
  probe(): Promise<void>
}

export type BlobBody = Blob | ReadableStream<Uint8Array>

/** Throws StoreFailure from every method when the store cannot take the bytes; then only `abort` makes sense. */
export interface BlobWriter {
  /**
   * Takes the bytes. The chunk may be reused as soon as the promise is settled.
   * Resolves when the writer wants more, which is how it holds a fast sender back.
   */
  write(chunk: Uint8Array): Promise<void>

  /** Returns once the blob is whole, readable, and would survive a power cut. */
  complete(): Promise<void>

  /** Leaves nothing behind, also after a failed `complete`. Never throws for what is already gone. */
  abort(): Promise<void>
}

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'

  constructor(key: BlobKey, options?: ErrorOptions) {
    super(`blob ${key} is missing`, options)
  }
}

/**
 * The store cannot do its work now. `full` passes when something is deleted; after `broken` nothing it says is
 * to be believed until a probe has succeeded.
 */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'

  constructor(
    readonly reason: 'full' | 'broken',
    options?: ErrorOptions,
  ) {
    super(`the blob store is ${reason}`, options)
  }
}

import { type BlobStore, eachChunk } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { ContentHash, ContentHashing } from './hashing/content-hash.ts'
import { BLOCK, type Lane } from './hashing/hashing-thread.ts'

/** Blocks end at pages of the file: disks take such writes as they are. */
const PAGE = 4096

export interface HashingWriterParts<D> {
  readonly hashing: ContentHashing
  readonly hash: ContentHash<D>
  readonly store: (bytes: Uint8Array) => Promise<void>
  readonly from: number
}

/**
 * A block is hashed and stored in parallel while the next is filled; without memory for that, each chunk as it comes.
 * One call at a time. A failure is thrown by the next call; then only `rest` makes sense.
 */
export class HashingWriter<D> {
  readonly #parts: HashingWriterParts<D>
  #position: number
  #lane: Lane | null = null
  #index = 0
  #filled = 0
  #room = 0
  #done: Promise<unknown>[] = []
  #storing: Promise<void>[] = []
  #failure: { readonly error: unknown } | null = null

  constructor(parts: HashingWriterParts<D>) {
    this.#parts = parts
    this.#position = parts.from
  }

  /** The bytes may be reused once the promise is settled. Resolving late is the backpressure. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#assertGoing()
    for (let at = 0; at < chunk.byteLength; ) {
      this.#lane ??= this.#parts.hashing.lend()
      if (this.#lane === null) return this.#passOn(chunk.subarray(at))
      if (this.#filled === 0) {
        await this.#done[this.#index]
        this.#assertGoing()
        this.#room = BLOCK - (this.#position % PAGE)
      }
      const part = chunk.subarray(at, at + this.#room - this.#filled)
      this.#block(this.#lane).set(part, this.#filled)
      this.#filled += part.byteLength
      this.#position += part.byteLength
      at += part.byteLength
      if (this.#filled === this.#room) this.#send(this.#lane)
    }
  }

  /** Returns when all bytes are stored; hashing may go on. */
  async flush(): Promise<void> {
    if (this.#lane !== null && this.#filled > 0) this.#send(this.#lane)
    await this.stored()
    this.#assertGoing()
  }

  /** Returns when no write is pending. Never throws. */
  async stored(): Promise<void> {
    await Promise.all(this.#storing)
  }

  /** `flush`, with the digest. Call once, at the end. */
  async end(): Promise<D> {
    this.#assertGoing()
    const last = this.#lane === null ? new Uint8Array() : this.#block(this.#lane).subarray(0, this.#filled)
    const digest = this.#parts.hash.digest(last)
    this.#done.push(this.#noted(digest), this.#noted(this.#store(last)))
    await this.rest()
    this.#assertGoing()
    return digest
  }

  /** Returns with the memory released. Unsent bytes are lost. Never throws. */
  async rest(): Promise<void> {
    await Promise.all(this.#done)
    this.#lane?.giveBack()
    this.#lane = null
    this.#done = []
    this.#storing = []
    this.#index = 0
    this.#filled = 0
  }

  #block(lane: Lane): Uint8Array {
    const block = lane.blocks[this.#index]
    if (block === undefined) throw new Error(`no block ${this.#index}`)
    return block
  }

  #send(lane: Lane): void {
    const bytes = this.#block(lane).subarray(0, this.#filled)
    const hashed = this.#noted(this.#parts.hash.update(bytes))
    const stored = this.#noted(this.#store(bytes))
    this.#storing[this.#index] = stored
    this.#done[this.#index] = Promise.all([hashed, stored])
    this.#index = (this.#index + 1) % lane.blocks.length
    this.#filled = 0
  }

  async #passOn(chunk: Uint8Array): Promise<void> {
    this.#position += chunk.byteLength
    await this.#parts.hash.update(chunk)
    await this.#parts.store(chunk)
  }

  async #store(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength > 0) await this.#parts.store(bytes)
  }

  /** Never rejects; a failure is kept for the next call. */
  async #noted(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#failure ??= { error }
    }
  }

  #assertGoing(): void {
    if (this.#failure !== null) throw this.#failure.error
  }
}

/** The first `length` bytes, complete or throws BlobMissing, BlobDamaged or StoreFailure. */
export async function* blobBytes(
  blobs: BlobStore,
  key: BlobKey,
  size: number,
  length: number = size,
): AsyncGenerator<Uint8Array> {
  yield* eachChunk(await blobs.read(key, 0, length, size))
}

import type { ContentHash, ContentHashing } from './hashing/content-hash.ts'
import { BLOCK, type Lane } from './hashing/shared-memory.ts'

/** Full blocks end where a page of the file does, wherever the first one began: so a disk takes them as they are. */
const PAGE = 4096

export interface HashingWriterParts<D> {
  readonly hashing: ContentHashing
  readonly hash: ContentHash<D>
  /** Called with one piece after another, several of which may be under way. */
  readonly store: (bytes: Uint8Array) => Promise<void>
  /** Where in its content the first byte goes. */
  readonly from: number
}

/**
 * Hashes and stores a stream of bytes in blocks: each block is hashed and stored at the same time, while the next is
 * filled. Without memory for that, each chunk is hashed and stored as it comes. One call at a time. After a failure, which is
 * thrown by the next call, only `rest` makes sense.
 */
export class HashingWriter<D> {
  readonly #parts: HashingWriterParts<D>
  #position: number
  #lane: Lane | null = null
  /** The block that is being filled, up to where it is, and up to where it will be. */
  #index = 0
  #filled = 0
  #room = 0
  /** Of each block, when it may be filled again. */
  #done: Promise<unknown>[] = []
  /** Of each block, when it is stored. */
  #storing: Promise<void>[] = []
  #failure: { readonly error: unknown } | null = null

  constructor(parts: HashingWriterParts<D>) {
    this.#parts = parts
    this.#position = parts.from
  }

  /** Takes the bytes, which are the caller's again when the promise is settled. Resolves when it wants more. */
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

  /** Returns when all that came is stored; the hashing of it may go on. */
  async flush(): Promise<void> {
    if (this.#lane !== null && this.#filled > 0) this.#send(this.#lane)
    await this.stored()
    this.#assertGoing()
  }

  /** Returns when nothing is being stored. Never throws. */
  async stored(): Promise<void> {
    await Promise.all(this.#storing)
  }

  /** `flush`, with the digest. Called once, at the end. */
  async end(): Promise<D> {
    this.#assertGoing()
    const last = this.#lane === null ? new Uint8Array() : this.#block(this.#lane).subarray(0, this.#filled)
    const digest = this.#parts.hash.digest(last)
    this.#done.push(this.#noted(digest), this.#noted(this.#store(last)))
    await this.rest()
    this.#assertGoing()
    return digest
  }

  /**
   * Returns when nothing is under way, and has given the memory back until more comes. What was not sent on is lost.
   * Never throws.
   */
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

  /** Resolves however the work ends; a failure is kept for whoever asks next. */
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

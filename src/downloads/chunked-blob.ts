import { type BlobChunks, type BlobStore, type OpenBlob, StoreFailure } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'

const NOTHING = new Uint8Array()

export class ChunkedBlob implements OpenBlob {
  readonly #blobs: Pick<BlobStore, 'chunks'>
  readonly #key: BlobKey
  readonly #size: number
  #chunks: BlobChunks | null = null
  #rest: Uint8Array = NOTHING
  #position = 0

  constructor(blobs: Pick<BlobStore, 'chunks'>, key: BlobKey, size: number) {
    this.#blobs = blobs
    this.#key = key
    this.#size = size
  }

  async readInto(start: number, target: Uint8Array): Promise<void> {
    if (this.#chunks === null || start !== this.#position) await this.#begin(start)
    for (let filled = 0; filled < target.length; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next()
      const bytes = this.#rest.subarray(0, target.length - filled)
      target.set(bytes, filled)
      filled += bytes.length
      this.#rest = this.#rest.subarray(bytes.length)
      this.#position += bytes.length
    }
  }

  async close(): Promise<void> {
    this.#chunks?.cancel()
    this.#chunks = null
    this.#rest = NOTHING
  }

  async #begin(start: number): Promise<void> {
    await this.close()
    this.#chunks = await this.#blobs.chunks(this.#key, start, this.#size, this.#size)
    this.#position = start
  }

  async #next(): Promise<Uint8Array> {
    const chunk = await this.#chunks?.next()
    if (chunk == null)
      throw new StoreFailure('broken', { cause: new Error(`blob ${this.#key} ends too early`) })
    return chunk
  }
}

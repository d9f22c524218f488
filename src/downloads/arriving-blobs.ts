import {
  type BlobChunks,
  type BlobStore,
  type GrowingBlob,
  type OpenBlob,
  StoreFailure,
} from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { ArrivedBytes } from './arrival-progress.ts'

type Blobs = Pick<BlobStore, 'readsGrowing' | 'open' | 'openGrowing' | 'chunks'>

interface Opened {
  readonly key: BlobKey
  readonly blob: OpenBlob
  /** Set where the blob was opened before completion. */
  readonly growing: GrowingBlob | null
}

/** One open at a time. Throws as the store does. */
export class ArrivingBlobs {
  readonly #blobs: Blobs
  #present: Opened | null = null

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  /** Null when the store must make them readable first. */
  async readable(bytes: ArrivedBytes, position: number): Promise<ArrivedBytes | null> {
    if (bytes.whole !== null) return bytes
    const { growing } = await this.#opened(bytes)
    if (growing === null) return bytes
    const end = bytes.start + (await growing.readableFrom(position - bytes.start, bytes.kept))
    return end > position ? { ...bytes, end: Math.min(end, bytes.end) } : null
  }

  async readInto(bytes: ArrivedBytes, position: number, target: Uint8Array): Promise<void> {
    const { blob } = await this.#opened(bytes)
    await blob.readInto(position - bytes.start, target)
  }

  /** Never throws. No read may be in progress. */
  async close(): Promise<void> {
    const blob = this.#present?.blob
    this.#present = null
    await blob?.close()
  }

  async #opened({ key, whole }: ArrivedBytes): Promise<Opened> {
    // A growing file stays open at its completion, which keeps the inode.
    const isSame = whole === null || this.#present?.growing === null || this.#blobs.readsGrowing
    if (this.#present?.key === key && isSame) return this.#present
    await this.close()
    const growing = whole === null ? await this.#blobs.openGrowing(key) : null
    const opened = { key, growing, blob: growing ?? (await this.#whole(key, whole ?? 0)) }
    this.#present = opened
    return opened
  }

  async #whole(key: BlobKey, size: number): Promise<OpenBlob> {
    return (await this.#blobs.open(key, size)) ?? new ChunkedBlob(this.#blobs, key, size)
  }
}

const NOTHING = new Uint8Array()

class ChunkedBlob implements OpenBlob {
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

import { type BlobChunks, type BlobStore, type GrowingBlob, StoreFailure } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { ArrivedBytes } from './arrival-progress.ts'

type Blobs = Pick<BlobStore, 'read' | 'openGrowing'>

interface Opened {
  readonly key: BlobKey
  readonly blob: Pick<GrowingBlob, 'readInto' | 'close'>
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
    if (this.#present?.key === key && (whole === null || this.#present.growing === null)) return this.#present
    await this.close()
    const growing = whole === null ? await this.#blobs.openGrowing(key) : null
    const opened = { key, growing, blob: growing ?? new ChunkedBlob(this.#blobs, key, whole ?? 0) }
    this.#present = opened
    return opened
  }
}

const NOTHING = new Uint8Array()

/** A complete blob, read in order. */
class ChunkedBlob {
  readonly #blobs: Blobs
  readonly #key: BlobKey
  readonly #size: number
  #chunks: BlobChunks | null = null
  #rest: Uint8Array = NOTHING
  #position = 0

  constructor(blobs: Blobs, key: BlobKey, size: number) {
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
    this.#chunks = await this.#blobs.read(this.#key, start, this.#size, this.#size)
    this.#position = start
  }

  async #next(): Promise<Uint8Array> {
    const chunk = await this.#chunks?.next()
    if (chunk == null)
      throw new StoreFailure('broken', { cause: new Error(`blob ${this.#key} ends too early`) })
    return chunk
  }
}

import { type BlobStore, isLost, StoreFailure } from '../blobs/blob-store.ts'
import type { Charset } from '../domain/text-bytes.ts'
import type { FileDetailRow } from '../files/files.rows.ts'
import { CHARSET_SAMPLE, charsetOf } from './charset.ts'

/** At about 200 bytes each. */
const REMEMBERED = 10_000

export class Charsets {
  readonly #blobs: BlobStore
  readonly #known = new Map<string, Promise<Charset | null>>()

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** Null also while the bytes cannot be read, which sending them reports. */
  of({ sha256, blob_key: key, size }: FileDetailRow): Promise<Charset | null> {
    const known = this.#known.get(sha256)
    if (known !== undefined) return known
    const found = this.#find(key, size).catch((error: unknown) => {
      this.#known.delete(sha256)
      if (isLost(error) || error instanceof StoreFailure) return null
      throw error
    })
    if (this.#known.size >= REMEMBERED) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    }
    this.#known.set(sha256, found)
    return found
  }

  async #find(key: FileDetailRow['blob_key'], size: number): Promise<Charset | null> {
    const sample = new Uint8Array(Math.min(size, CHARSET_SAMPLE))
    await this.#blobs.readInto(key, 0, sample, size)
    return charsetOf(sample)
  }
}

import { type BlobStore, isLost, readInto } from '../../blobs/blob-store.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import type { Sha256, UploadId } from '../../domain/ids.ts'
import { type UploadRow, uploadById } from '../uploads.rows.ts'
import type { PartialReads } from './partial-reads.ts'

export interface BytesBefore {
  readonly length: number
  readonly sha256: Sha256
}

/** Fewer identify a longer upload too weakly. */
const FEWEST_BEFORE = 1024

/** Concurrent reads, of 64 KiB at most each. */
const AT_ONCE = 16

interface BytesBeforeParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly health: StoreHealth
  readonly partialReads: Pick<PartialReads, 'makeReadable'>
}

/** Name, size and date do not suffice to identify a file. */
export class BytesBeforeOffset {
  readonly #parts: BytesBeforeParts
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(parts: BytesBeforeParts) {
    this.#parts = parts
  }

  /** At most `most` bytes, fewer where the store cannot read more; null for none. */
  async of(id: UploadId, offset: number, most: number): Promise<BytesBefore | null> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await this.#read(id, offset, Math.min(most, offset))
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  async #read(id: UploadId, offset: number, length: number): Promise<BytesBefore | null> {
    const { db, health, partialReads } = this.#parts
    if (length === 0) return null
    try {
      const row = await uploadById(db, id)
      if (row?.received !== offset) return null
      const found = await this.#readable(row, length)
      if (found !== null) return found
      await partialReads.makeReadable(id, row.key)
      const shown = await uploadById(db, id)
      return shown?.received === offset ? await this.#readable(shown, length) : null
    } catch (error) {
      // The next request that brings bytes ends a damaged upload.
      if (isLost(error)) return null
      throw health.refusalFor(error)
    }
  }

  /** Halves the length until the store can read the bytes; null below `FEWEST_BEFORE`. */
  async #readable(row: UploadRow, most: number): Promise<BytesBefore | null> {
    const { blobs } = this.#parts
    const { key, received, progress, state } = row
    const bytes = new Uint8Array(most)
    if (state === 'completed') {
      await readInto(blobs, key, received - most, bytes, received)
      return digestOf(bytes)
    }
    if (state !== 'uploading' || progress === null) return null
    const blob = await blobs.openGrowing(key)
    try {
      const kept = { offset: received, progress }
      for (let length = most; length >= Math.min(most, FEWEST_BEFORE); length = Math.floor(length / 2)) {
        const target = bytes.subarray(0, length)
        for (let at = received - length; at < received; ) {
          const end = Math.min(received, await blob.readableFrom(at, kept))
          if (end <= at) break
          const from = at - (received - length)
          await blob.readInto(at, target.subarray(from, from + end - at))
          at = end
          if (at === received) return digestOf(target)
        }
      }
      return null
    } finally {
      await blob.close()
    }
  }
}

function digestOf(bytes: Uint8Array): BytesBefore {
  return { length: bytes.length, sha256: Bun.SHA256.hash(bytes, 'hex') as Sha256 }
}

import { assertStored, type BlobStore, type BlobWriter } from '../blobs/blob-store.ts'
import { recordPooledKeys } from '../core/blobs.rows.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import type { ContentHash, ContentHashing } from './hashing/content-hash.ts'
import { type Digest, RunningDigest } from './hashing/content-hash-messages.ts'
import { HashingWriter } from './hashing-writer.ts'

/** After any failure only `abort` makes sense. */
export interface IncomingContent {
  /** The bytes may be reused once the promise is settled. Resolving late is the backpressure. */
  write(chunk: Uint8Array): Promise<void>

  /**
   * Returns once all bytes are durable. The final name waits for `recorded`. Throws StoreFailure for a wrong length.
   */
  complete(recorded: Promise<void>): Promise<Digest>

  /** Removes everything written, also after a failed `complete`. */
  abort(): Promise<void>
}

export type OnWritten = (bytes: number) => void

export class StreamedContent implements IncomingContent {
  readonly #key: BlobKey
  readonly #writer: BlobWriter
  readonly #hash: ContentHash
  readonly #hashingWriter: HashingWriter<Digest>
  #received = 0

  constructor(key: BlobKey, writer: BlobWriter, hashing: ContentHashing, wrote: OnWritten) {
    this.#key = key
    this.#writer = writer
    this.#hash = hashing.start()
    const store = async (bytes: Uint8Array) => {
      await writer.write(bytes)
      wrote(bytes.byteLength)
    }
    this.#hashingWriter = new HashingWriter({ hashing, hash: this.#hash, store, from: 0 })
  }

  write(chunk: Uint8Array): Promise<void> {
    this.#received += chunk.byteLength
    return this.#hashingWriter.write(chunk)
  }

  async complete(recorded: Promise<void>): Promise<Digest> {
    const digest = await this.#hashingWriter.end()
    assertStored(this.#key, await this.#writer.complete(recorded), this.#received)
    return digest
  }

  async abort(): Promise<void> {
    await this.#hashingWriter.rest()
    this.#hash.drop()
    await this.#writer.abort()
  }
}

/** Bytes. */
export const MOST_BUFFERED = 256 * 1024

/** Contents buffered at a time: thousands of slow clients must not fill the memory. */
const MOST = 64

/** Reused: fresh memory costs half as much as hashing what is written there. */
const idle: Uint8Array<ArrayBuffer>[] = []
let inUse = 0

interface BufferedContentParts {
  readonly blobs: BlobStore
  readonly hashing: ContentHashing
  readonly wrote: OnWritten
}

/** Stored in one piece once complete; longer than declared, it is streamed from there on. */
export class BufferedContent implements IncomingContent {
  readonly #key: BlobKey
  readonly #parts: BufferedContentParts
  #buffer: Uint8Array<ArrayBuffer> | null
  #length = 0
  #streamed: StreamedContent | null = null
  #mayBeStored = false

  private constructor(key: BlobKey, parts: BufferedContentParts, buffer: Uint8Array<ArrayBuffer>) {
    this.#key = key
    this.#parts = parts
    this.#buffer = buffer
  }

  /** Null for unknown or large sizes, and at the limit of buffers. */
  static open(key: BlobKey, parts: BufferedContentParts, most: number): BufferedContent | null {
    if (most === 0 || most > MOST_BUFFERED || inUse === MOST) return null
    inUse += 1
    return new BufferedContent(key, parts, idle.pop() ?? new Uint8Array(MOST_BUFFERED))
  }

  async write(chunk: Uint8Array): Promise<void> {
    const buffer = this.#buffer
    if (buffer !== null && this.#length + chunk.byteLength <= buffer.byteLength) {
      buffer.set(chunk, this.#length)
      this.#length += chunk.byteLength
      return
    }
    if (this.#streamed === null) await this.#stream()
    await this.#streamed?.write(chunk)
  }

  async complete(recorded: Promise<void>): Promise<Digest> {
    if (this.#streamed !== null) return this.#streamed.complete(recorded)
    const bytes = this.#buffered()
    const running = new RunningDigest()
    running.update(bytes)
    const digest = running.digest()
    await recorded
    this.#mayBeStored = true
    const { blobs, wrote } = this.#parts
    await blobs.put(this.#key, bytes, digest.sha256)
    wrote(bytes.byteLength)
    this.#drop()
    return digest
  }

  async abort(): Promise<void> {
    this.#drop()
    await this.#streamed?.abort()
    if (this.#mayBeStored) await this.#parts.blobs.remove(this.#key)
  }

  async #stream(): Promise<void> {
    const { blobs, hashing, wrote } = this.#parts
    this.#streamed = new StreamedContent(this.#key, await blobs.create(this.#key), hashing, wrote)
    await this.#streamed.write(this.#buffered())
    this.#drop()
  }

  #buffered(): Uint8Array<ArrayBuffer> {
    return (this.#buffer ?? new Uint8Array()).subarray(0, this.#length)
  }

  #drop(): void {
    if (this.#buffer === null) return
    idle.push(this.#buffer)
    inUse -= 1
    this.#buffer = null
  }
}

const BATCH = 64
const FEW = BATCH / 2

/**
 * Keys recorded in batches, so that `Cleaning.afterStart` finds an upload after a kill without a reservation. For a
 * database and a store that no other process uses.
 */
export class BlobKeyPool {
  readonly #db: Database
  readonly #random: Random
  readonly #free: BlobKey[] = []
  readonly #taken = new Set<BlobKey>()
  #filling: Promise<void> | null = null

  constructor({ db, random }: { readonly db: Database; readonly random: Random }) {
    this.#db = db
    this.#random = random
  }

  /** A durable key. Throws what the database throws. */
  async take(): Promise<BlobKey> {
    for (;;) {
      const key = this.#free.pop()
      if (key === undefined) {
        await this.#fill()
        continue
      }
      this.#taken.add(key)
      // A caller that finds no key gets the failure.
      if (this.#free.length < FEW) this.#fill().catch(() => {})
      return key
    }
  }

  /** Call once nothing is under the key, or the database knows what is. */
  end(key: BlobKey): void {
    this.#taken.delete(key)
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#record().finally(() => {
      this.#filling = null
    })
    return this.#filling
  }

  async #record(): Promise<void> {
    const made = Array.from({ length: BATCH }, () => makeBlobKey(this.#random))
    await inTransaction(this.#db, (trx) => recordPooledKeys(trx, [...this.#taken, ...this.#free, ...made]))
    this.#free.push(...made)
  }
}

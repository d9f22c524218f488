import { assertStored, type BlobStore, type BlobWriter } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'
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

type OnWritten = (bytes: number) => void

class StreamedContent implements IncomingContent {
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
const MOST_BUFFERED = 256 * 1024

/** Contents buffered at a time: thousands of slow clients must not fill the memory. */
const MOST = 64

/** Reused: fresh memory costs half as much as hashing what is written there. */
const idle: Uint8Array<ArrayBuffer>[] = []
let inUse = 0

interface ContentParts {
  readonly blobs: BlobStore
  readonly hashing: ContentHashing
  readonly wrote: OnWritten
}

/** `most`: bytes that were declared, 0 for unknown. */
export async function incomingContent(
  key: BlobKey,
  parts: ContentParts,
  most: number,
): Promise<IncomingContent> {
  const { blobs, hashing, wrote } = parts
  return (
    BufferedContent.open(key, parts, most) ??
    new StreamedContent(key, await blobs.create(key), hashing, wrote)
  )
}

/** Stored in one piece once complete; longer than declared, it is streamed from there on. */
export class BufferedContent implements IncomingContent {
  readonly #key: BlobKey
  readonly #parts: ContentParts
  #buffer: Uint8Array<ArrayBuffer> | null
  #length = 0
  #streamed: StreamedContent | null = null
  #mayBeStored = false

  private constructor(key: BlobKey, parts: ContentParts, buffer: Uint8Array<ArrayBuffer>) {
    this.#key = key
    this.#parts = parts
    this.#buffer = buffer
  }

  /** Null for unknown or large sizes, and at the limit of buffers. */
  static open(key: BlobKey, parts: ContentParts, most: number): BufferedContent | null {
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

/** Bytes that suffice to detect a type. */
export const HEAD_LENGTH = 4100

export class FileHead {
  readonly #chunks: Buffer[] = []
  #length = 0

  take(chunk: Uint8Array): void {
    if (this.#length >= HEAD_LENGTH) return
    const part = Buffer.from(chunk.subarray(0, HEAD_LENGTH - this.#length))
    this.#chunks.push(part)
    this.#length += part.length
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }
}

import type { BlobStore } from '../../blobs/blob-store.ts'
import type { BlobKey } from '../../domain/ids.ts'
import type { ContentHashing } from '../hashing/content-hash.ts'
import type { Digest } from '../hashing/content-hash-messages.ts'
import { RunningDigest } from '../hashing/running-digest.ts'
import type { IncomingContent, OnWritten } from './incoming-content.ts'
import { StreamedContent } from './streamed-content.ts'

/** Bytes. */
export const MOST_BUFFERED = 256 * 1024

/** Contents buffered at a time: thousands of slow clients must not fill the memory. */
const MOST = 64

/** Reused: fresh memory costs half as much as hashing what is written there. */
const idle: Uint8Array<ArrayBuffer>[] = []
let inUse = 0

export interface BufferedContentParts {
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

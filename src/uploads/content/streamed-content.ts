import { assertStored, type BlobWriter } from '../../blobs/blob-store.ts'
import type { BlobKey } from '../../domain/ids.ts'
import type { ContentHash, ContentHashing } from '../hashing/content-hash.ts'
import type { Digest } from '../hashing/content-hash-messages.ts'
import { HashingWriter } from '../hashing-writer.ts'
import type { IncomingContent, OnWritten } from './incoming-content.ts'

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

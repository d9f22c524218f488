import { dropBuffer, giveBuffer, takeBuffer } from './body-buffers.ts'
import type { SourceChunks } from './body-chunks.ts'

/** Bytes in the longest chunk. A short body, or a range as players ask for, is one read and one write. */
const LONGEST_CHUNK = 1024 * 1024

/** An open file or the like, which is read into memory of the reader. */
export interface BodySource {
  /** Fills the target with the bytes from `start` on, or throws. */
  readInto(start: number, target: Uint8Array): Promise<void>
  /** Never throws. Called once, when no read is in progress. */
  close(): Promise<void>
}

/** A body of known length that is read from an open source, without a stream between. Closes the source by itself. */
export class StoredBody implements SourceChunks {
  readonly #source: BodySource
  readonly #end: number
  readonly #buffers: Uint8Array[] = []
  #position: number
  #chunks = 0
  #isReading = false
  #isCancelled = false
  #isClosed = false

  /** Bytes `start` to `end` (exclusive). */
  constructor(source: BodySource, start: number, end: number) {
    this.#source = source
    this.#position = start
    this.#end = end
  }

  async next(): Promise<Uint8Array | null> {
    const left = Math.min(LONGEST_CHUNK, this.#end - this.#position)
    if (left === 0 || this.#isClosed) return null
    const buffer = this.#buffer(left)
    const length = Math.min(left, buffer.byteLength)
    const chunk = buffer.subarray(0, length)
    const position = this.#position
    this.#position += length
    this.#isReading = true
    try {
      await this.#source.readInto(position, chunk)
    } catch (error) {
      this.#isCancelled = true
      throw error
    } finally {
      this.#isReading = false
      if (this.#isCancelled || this.#position === this.#end) this.#close()
    }
    return chunk
  }

  cancel(): void {
    this.#isCancelled = true
    for (const buffer of this.#buffers.splice(0)) dropBuffer(buffer)
    if (!this.#isReading) this.#close()
  }

  release(): void {
    for (const buffer of this.#buffers.splice(0)) giveBuffer(buffer)
  }

  /** Two buffers take turns: one is filled while the other is being sent. */
  #buffer(length: number): Uint8Array {
    const turn = this.#chunks++ % 2
    this.#buffers[turn] ??= takeBuffer(length)
    return this.#buffers[turn]
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    void this.#source.close()
  }
}

import type { SourceChunks } from './body-chunks.ts'

/** Bytes. A short body, or a player's range, is one read and one write. */
const LONGEST_CHUNK = 1024 * 1024

export interface BodySource {
  /** Fills the target from offset `start`, or throws. */
  readInto(start: number, target: Uint8Array): Promise<void>
  /** Called once, when no read is in progress. Never throws. */
  close(): Promise<void>
}

/** Of known length, without a stream. Closes its source. */
export class StoredBody implements SourceChunks {
  readonly #source: BodySource
  readonly #end: number
  readonly #buffers: Uint8Array[] = []
  #position: number
  #chunks = 0
  #isReading = false
  #isCancelled = false
  #isClosed = false

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

  /** Double buffering: one is filled while the other is sent. */
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

/** Powers of two, so that sizes are few. */
const SMALLEST = 16 * 1024

const MOST_IDLE = 16 * 1024 * 1024

/** Bytes in use above which buffers are small: thousands of slow receivers must not fill the memory. */
const MOST_USED = 64 * 1024 * 1024
const SMALL = 64 * 1024

const idle = new Map<number, Uint8Array[]>()
let idleBytes = 0
let usedBytes = 0

/** Any content; smaller under pressure. Reused: the system clears fresh memory by pages. Must be given or dropped. */
function takeBuffer(bytes: number): Uint8Array {
  const wanted = Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)))
  const size = usedBytes + wanted > MOST_USED ? Math.min(wanted, SMALL) : wanted
  usedBytes += size
  const buffer = idle.get(size)?.pop()
  if (buffer === undefined) return new Uint8Array(size)
  idleBytes -= size
  return buffer
}

/** For a buffer that may still be read: it is not reused. */
function dropBuffer(buffer: Uint8Array): void {
  usedBytes -= buffer.byteLength
}

/** The caller must not use it any more. */
function giveBuffer(buffer: Uint8Array): void {
  const size = buffer.byteLength
  usedBytes -= size
  if (idleBytes + size > MOST_IDLE) return
  const same = idle.get(size)
  if (same === undefined) idle.set(size, [buffer])
  else same.push(buffer)
  idleBytes += size
}

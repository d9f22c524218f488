import type { OpenBlob } from '../blobs/blob-store.ts'
import type { SourceChunks } from '../server/connections/body-chunks.ts'

/** Bytes in the longest chunk. Short, because many readers may wait, each with two of them. */
const LONGEST_CHUNK = 128 * 1024

/** How far a file has arrived. */
export interface ArrivedSoFar {
  /** Bytes up to here may be read. */
  readonly end: number
  /** Whether that is all there will be. */
  readonly isWhole: boolean
}

/** The bytes of a blob while it grows, from a position on. */
export class ArrivingBody implements SourceChunks {
  readonly #blob: OpenBlob
  readonly #pastIt: (position: number) => Promise<ArrivedSoFar>
  readonly #over: (isWhole: boolean) => void
  readonly #end: number | null
  readonly #buffers: Uint8Array[] = []
  #position: number
  #chunks = 0
  #isReading = false
  #isOver = false

  /**
   * Bytes `start` to `end` (exclusive), or to the end of the file. `pastIt` resolves when there are bytes past the position,
   * or none to come, and rejects when the upload has ended without becoming a file. `over` is called once.
   */
  constructor(
    blob: OpenBlob,
    { start, end }: { readonly start: number; readonly end: number | null },
    pastIt: (position: number) => Promise<ArrivedSoFar>,
    over: (isWhole: boolean) => void,
  ) {
    this.#blob = blob
    this.#position = start
    this.#end = end
    this.#pastIt = pastIt
    this.#over = over
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#isOver || this.#position === this.#end) return this.#finish(true)
    try {
      this.#isReading = true
      const { end, isWhole } = await this.#pastIt(this.#position)
      if (this.#isOver) return null
      const length = Math.min(LONGEST_CHUNK, Math.min(end, this.#end ?? end) - this.#position)
      if (length <= 0 && isWhole) return this.#finish(true)
      const chunk = this.#buffer().subarray(0, length)
      await this.#blob.readInto(this.#position, chunk)
      this.#position += length
      return chunk
    } catch (error) {
      this.#finish(false)
      throw error
    } finally {
      this.#isReading = false
      if (this.#isOver) void this.#blob.close()
    }
  }

  cancel(): void {
    this.#finish(false)
  }

  release(): void {}

  /** Two buffers take turns: one is filled while the other is being sent. */
  #buffer(): Uint8Array {
    const turn = this.#chunks++ % 2
    this.#buffers[turn] ??= new Uint8Array(LONGEST_CHUNK)
    return this.#buffers[turn]
  }

  #finish(isWhole: boolean): null {
    if (this.#isOver) return null
    this.#isOver = true
    this.#over(isWhole)
    if (!this.#isReading) void this.#blob.close()
    return null
  }
}

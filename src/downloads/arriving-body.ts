import { BlobMissing } from '../blobs/blob-store.ts'
import type { SourceChunks } from '../server/connections/body-chunks.ts'
import type { ArrivedBytes } from './arrival-progress.ts'
import type { ArrivingBlobs } from './arriving-blobs.ts'

/** Bytes. Short, because many readers may wait, each with two buffers. */
const LONGEST_CHUNK = 128 * 1024
const MOST_TRIES = 5

/** `isFresh`: ignore known progress. */
type BytesAt = (position: number, isFresh: boolean) => Promise<ArrivedBytes | null>

export interface ArrivingBodyWatch {
  sending(): void
  /** Called once. */
  over(isWhole: boolean): void
}

export class ArrivingBody implements SourceChunks {
  readonly #blobs: ArrivingBlobs
  readonly #bytesAt: BytesAt
  readonly #watch: ArrivingBodyWatch
  readonly #end: number | null
  readonly #buffers: Uint8Array[] = []
  #position: number
  #chunks = 0
  #isReading = false
  #isOver = false
  #failure: Error | null = null

  /** `bytesAt` resolves once bytes or the file are there, rejects when they never will be; null once cancelled. */
  constructor(
    blobs: ArrivingBlobs,
    { start, end }: { readonly start: number; readonly end: number | null },
    bytesAt: BytesAt,
    watch: ArrivingBodyWatch,
  ) {
    this.#blobs = blobs
    this.#position = start
    this.#end = end
    this.#bytesAt = bytesAt
    this.#watch = watch
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#failure !== null) throw this.#failure
    if (this.#isOver || this.#position === this.#end) return this.#finish(true)
    try {
      this.#isReading = true
      return await this.#chunk()
    } catch (error) {
      this.#finish(false)
      throw error
    } finally {
      this.#isReading = false
      if (this.#isOver) void this.#blobs.close()
    }
  }

  cancel(): void {
    this.#finish(false)
  }

  release(): void {}

  fail(error: Error): void {
    if (this.#isOver) return
    this.#failure = error
    this.#finish(false)
  }

  async #chunk(): Promise<Uint8Array | null> {
    for (let tries = 1; ; tries++) {
      try {
        const bytes = await this.#bytesAt(this.#position, tries > 1)
        if (this.#failure !== null) throw this.#failure
        if (this.#isOver || bytes === null) return null
        const { end, whole } = bytes
        const length = Math.min(LONGEST_CHUNK, Math.min(end, this.#end ?? end) - this.#position)
        if (length <= 0 && whole !== null) return this.#finish(true)
        const chunk = this.#buffer().subarray(0, length)
        this.#watch.sending()
        await this.#blobs.readInto(bytes, this.#position, chunk)
        this.#position += length
        return chunk
      } catch (error) {
        // The known location is outdated: the bytes moved within the store, or to another blob.
        if (!(error instanceof BlobMissing) || tries === MOST_TRIES) throw error
      }
    }
  }

  /** Two buffers alternate: one is filled while the other is sent. */
  #buffer(): Uint8Array {
    const turn = this.#chunks++ % 2
    this.#buffers[turn] ??= new Uint8Array(LONGEST_CHUNK)
    return this.#buffers[turn]
  }

  #finish(isWhole: boolean): null {
    if (this.#isOver) return null
    this.#isOver = true
    this.#watch.over(isWhole)
    if (!this.#isReading) void this.#blobs.close()
    return null
  }
}

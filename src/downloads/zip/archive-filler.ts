import { type BlobChunks, fill, StoreFailure } from '../../blobs/blob-store.ts'
import type { ZipSegment } from './zip-records.ts'

/** Bytes. Larger contents are read one after the other. */
const SMALL = 512 * 1024
const LANES = 32

export interface ArchiveSource {
  /** `end` is exclusive. */
  read(entry: number, start: number, end: number): Promise<BlobChunks>
  /** The entry is sent from its first byte, and bytes after its header could be read. */
  began(entry: number): void
  sent(bytes: number): void
  failed(error: unknown): void
  readonly ended: AbortSignal
  over(): void
}

type Content = Extract<ZipSegment, { kind: 'content' }>
type ZipRecord = Extract<ZipSegment, { kind: 'record' }>

interface Reading {
  readonly entry: number
  readonly start: number
  readonly into: Uint8Array
}

export class ArchiveFiller {
  readonly #segments: Generator<ZipSegment>
  readonly #source: ArchiveSource
  #rest: ZipSegment | null = null
  #large: LargeContent | null = null
  #isCancelled = false
  readonly #passed = incrementalCollector()
  /** The entry whose header went out last; its content has not been read yet. */
  #begun: number | null = null
  /** Entries to report as begun once all bytes behind their headers were read. */
  readonly #followed: number[] = []

  constructor(segments: Generator<ZipSegment>, source: ArchiveSource) {
    this.#segments = segments
    this.#source = source
  }

  /** Bytes filled: all, fewer at the end, 0 after it. */
  async fill(target: Uint8Array): Promise<number> {
    const readings: Reading[] = []
    let filled = 0
    while (filled < target.length && !this.#isCancelled) {
      const left = target.subarray(filled)
      if (this.#large !== null) {
        const came = await this.#large.fill(left)
        if (came < left.length) this.#large = null
        if (readings.length === 0) this.#tellBegun()
        filled += came
        continue
      }
      const segment = this.#nextSegment()
      if (segment === null) break
      if (segment.kind === 'record') {
        filled += this.#copy(segment, left)
      } else if (segment.end - segment.start > SMALL) {
        await this.#begin(segment)
      } else {
        const reading = this.#readingOf(segment, left)
        readings.push(reading)
        filled += reading.into.length
      }
    }
    await this.#read(readings)
    if (this.#large === null) this.#tellBegun()
    return filled
  }

  cancel(): void {
    this.#isCancelled = true
    this.#large?.cancel()
  }

  isCancelled(): boolean {
    return this.#isCancelled
  }

  #copy(record: ZipRecord, target: Uint8Array): number {
    const { bytes } = record
    const some = bytes.length <= target.length ? bytes : bytes.subarray(0, target.length)
    target.set(some)
    if (some !== bytes) this.#rest = { ...record, bytes: bytes.subarray(target.length) }
    return some.length
  }

  #readingOf(content: Content, target: Uint8Array): Reading {
    const { entry, start, end } = content
    const length = Math.min(end - start, target.length)
    if (length < end - start) this.#rest = { ...content, start: start + length }
    return { entry, start, into: target.subarray(0, length) }
  }

  #nextSegment(): ZipSegment | null {
    if (this.#rest !== null) {
      const segment = this.#rest
      this.#rest = null
      return segment
    }
    const { done, value } = this.#segments.next()
    this.#passed()
    if (done === true) return null
    if (this.#begun !== null) this.#followed.push(this.#begun)
    this.#begun = value.kind === 'record' ? value.begins : null
    return value
  }

  #tellBegun(): void {
    for (const entry of this.#followed.splice(0)) this.#source.began(entry)
  }

  async #begin({ entry, start, end }: Content): Promise<void> {
    this.#large = largeContent(await this.#source.read(entry, start, end), end - start)
    if (this.#isCancelled) this.#large.cancel()
  }

  async #read(readings: readonly Reading[]): Promise<void> {
    const waiting = readings.values()
    const lane = async () => {
      for (const { entry, start, into } of waiting) {
        if (this.#isCancelled) return
        await fill(into, await this.#source.read(entry, start, start + into.length))
      }
    }
    await Promise.all(Array.from({ length: Math.min(LANES, readings.length) }, lane))
  }
}

interface LargeContent {
  /** Returns 0 at the end. Throws StoreFailure when the content has another length. */
  fill(target: Uint8Array): Promise<number>
  cancel(): void
}

function largeContent(chunks: BlobChunks, length: number): LargeContent {
  let received = 0
  let rest: Uint8Array = new Uint8Array()

  async function receive(): Promise<Uint8Array | null> {
    const chunk = await chunks.next()
    received += chunk?.length ?? 0
    if (received > length || (chunk === null && received < length)) {
      const cause = new Error(`${received} bytes of a content came, ${length} were asked for`)
      throw new StoreFailure('broken', { cause })
    }
    if (chunk === null) chunks.release()
    return chunk
  }

  return {
    async fill(target) {
      let filled = 0
      while (filled < target.length) {
        if (rest.length === 0) {
          const chunk = await receive()
          if (chunk === null) break
          rest = chunk
        }
        const some = rest.subarray(0, target.length - filled)
        target.set(some, filled)
        filled += some.length
        rest = rest.subarray(some.length)
      }
      return filled
    },

    cancel: () => chunks.cancel(),
  }
}

/** Objects between collections. */
const MANY = 5_000

/** Call for each of very many short-lived objects: the collector would wait for as much garbage as memory in use. */
export function incrementalCollector(): () => void {
  let passed = 0
  return () => {
    if (++passed % MANY !== 0) return
    // Without force it runs in its own threads and hardly blocks the event loop.
    Bun.gc(false)
  }
}

import { incrementalCollector } from './garbage-collection.ts'
import { type FillingStream, fillingStream } from './stream-filling.ts'
import type { ZipSegment } from './zip-layout.ts'

/** Content over this size is read as one stream where the store has it as one. */
const SMALL = 512 * 1024
/** Contents that are read at once. */
const LANES = 32

export interface ArchiveSource {
  /** Fills the target with the bytes of an entry's content from `start` on. */
  fill(entry: number, start: number, target: Uint8Array): Promise<void>
  /** The bytes `start` to `end` (exclusive) of an entry's content, or null where filling is as good. */
  stream(entry: number, start: number, end: number): Promise<ReadableStream<Uint8Array> | null>
  /** The entry is being sent from its first byte on, and what comes after its header could be read. */
  began(entry: number): void
  /** So many bytes more went to the reader. */
  sent(bytes: number): void
  /** The stream broke off because of this. */
  failed(error: unknown): void
  /** Aborted when it has to end before all was read. */
  readonly ended: AbortSignal
  /** Nobody reads any more, for whatever reason. */
  over(): void
}

type Content = Extract<ZipSegment, { kind: 'content' }>
type ZipRecord = Extract<ZipSegment, { kind: 'record' }>

/** A part of a content and its place in the target. */
interface Reading {
  readonly entry: number
  readonly start: number
  readonly into: Uint8Array
}

/** Fills the memory of a reader with the segments, one after another. */
export class ArchiveFiller {
  readonly #segments: Generator<ZipSegment>
  readonly #source: ArchiveSource
  /** What of a segment did not go into the target before. */
  #rest: ZipSegment | null = null
  #streamed: FillingStream | null = null
  /** The large entry that does not come as a stream. */
  #unstreamed: number | null = null
  #isCancelled = false
  readonly #passed = incrementalCollector()
  /** The entry whose header was the last that went out; nobody knows yet whether its content can be read. */
  #begun: number | null = null
  /** Entries of which something came after the header, to be told of once all of it could be read. */
  readonly #followed: number[] = []

  constructor(segments: Generator<ZipSegment>, source: ArchiveSource) {
    this.#segments = segments
    this.#source = source
  }

  /** How many of the target's bytes came: all of them, or fewer at the end and 0 behind it. */
  async fill(target: Uint8Array): Promise<number> {
    const readings: Reading[] = []
    let filled = 0
    while (filled < target.length && !this.#isCancelled) {
      const left = target.subarray(filled)
      if (this.#streamed !== null) {
        const came = await this.#streamed.fill(left)
        if (came < left.length) this.#streamed = null
        if (readings.length === 0) this.#tellBegun()
        filled += came
        continue
      }
      const segment = this.#nextSegment()
      if (segment === null) break
      if (segment.kind === 'record') {
        filled += this.#copy(segment, left)
      } else if (!this.#mayStream(segment) || !(await this.#openStream(segment))) {
        const reading = this.#readingOf(segment, left)
        readings.push(reading)
        filled += reading.into.length
      }
    }
    await this.#read(readings)
    if (this.#streamed === null) this.#tellBegun()
    return filled
  }

  /** Lets go of everything; nobody asks for more. */
  cancel(): void {
    this.#isCancelled = true
    this.#streamed?.cancel()
  }

  isCancelled(): boolean {
    return this.#isCancelled
  }

  /** Copies what fits of the record; returns how much that was. */
  #copy(record: ZipRecord, target: Uint8Array): number {
    const { bytes } = record
    const some = bytes.length <= target.length ? bytes : bytes.subarray(0, target.length)
    target.set(some)
    if (some !== bytes) this.#rest = { ...record, bytes: bytes.subarray(target.length) }
    return some.length
  }

  /** What of the content goes into the target. */
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

  #mayStream({ entry, start, end }: Content): boolean {
    return end - start > SMALL && entry !== this.#unstreamed
  }

  /** Whether the content comes as a stream. */
  async #openStream({ entry, start, end }: Content): Promise<boolean> {
    const stream = await this.#source.stream(entry, start, end)
    if (stream === null) {
      this.#unstreamed = entry
      return false
    }
    this.#streamed = fillingStream(stream, end - start)
    if (this.#isCancelled) this.#streamed.cancel()
    return true
  }

  async #read(readings: readonly Reading[]): Promise<void> {
    const waiting = readings.values()
    const lane = async () => {
      for (const { entry, start, into } of waiting) {
        if (this.#isCancelled) return
        await this.#source.fill(entry, start, into)
      }
    }
    await Promise.all(Array.from({ length: Math.min(LANES, readings.length) }, lane))
  }
}

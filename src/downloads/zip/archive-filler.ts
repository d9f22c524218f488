import { StoreFailure } from '../../blobs/blob-store.ts'
import { incrementalCollector } from './garbage-collection.ts'
import type { ZipSegment } from './zip-entries.ts'

/** Bytes. Larger contents are streamed where the store has streams. */
const SMALL = 512 * 1024
const LANES = 32

export interface ArchiveSource {
  fill(entry: number, start: number, target: Uint8Array): Promise<void>
  /** `end` is exclusive. Null where `fill` is as good. */
  stream(entry: number, start: number, end: number): Promise<ReadableStream<Uint8Array> | null>
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
  #streamed: FillingStream | null = null
  #unstreamed: number | null = null
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

  cancel(): void {
    this.#isCancelled = true
    this.#streamed?.cancel()
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

  #mayStream({ entry, start, end }: Content): boolean {
    return end - start > SMALL && entry !== this.#unstreamed
  }

  /** False where the content does not come as a stream. */
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

interface FillingStream {
  /** Returns 0 at the end. Throws StoreFailure when the stream has another length. */
  fill(target: Uint8Array): Promise<number>
  cancel(): void
}

function fillingStream(stream: ReadableStream<Uint8Array>, length: number): FillingStream {
  const reader = stream.getReader()
  let received = 0
  let rest: Uint8Array = new Uint8Array()

  async function receive(): Promise<Uint8Array | null> {
    const { done, value } = await reader.read()
    received += value?.length ?? 0
    if (received > length || (done && received < length)) {
      const cause = new Error(`${received} bytes of a content came, ${length} were asked for`)
      throw new StoreFailure('broken', { cause })
    }
    return value ?? null
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

    cancel() {
      // A failure no longer matters.
      reader.cancel().catch(() => {})
    },
  }
}

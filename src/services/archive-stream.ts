import type { ZipSegment } from '../domain/zip-layout.ts'
import { passing } from './garbage.ts'
import { type FillingStream, fillingStream } from './stream-filling.ts'

/** Content over this size is read as one stream where the store has it as one. */
const SMALL = 512 * 1024
/** Contents that are read at once. */
const LANES = 32
/** Bytes of a chunk for readers who bring no memory of their own. */
const CHUNK = 256 * 1024

export interface ArchiveSource {
  /** Fills the target with the bytes of an entry's content from `start` on. */
  fill(entry: number, start: number, target: Uint8Array): Promise<void>
  /** The bytes `start` to `end` (exclusive) of an entry's content, or null where filling is as good. */
  stream(entry: number, start: number, end: number): Promise<ReadableStream<Uint8Array> | null>
  /** The entry is being sent from its first byte on, and what comes after its header could be read. */
  began(entry: number): void
  /** The stream broke off because of this. */
  failed(error: unknown): void
  /** Nobody reads any more, for whatever reason. */
  over(): void
}

/**
 * The segments as one stream of bytes. They are read straight into the memory that the reader brings, so that one who
 * brings the same again makes no garbage, and no further than it goes. It fails when a content is not as long as the
 * layout says, and lets go of everything as soon as it is cancelled.
 */
export function archiveStream(
  segments: Generator<ZipSegment>,
  source: ArchiveSource,
): ReadableStream<Uint8Array> {
  const filler = archiveFiller(segments, source)
  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: CHUNK,
    async pull(controller) {
      const request = controller.byobRequest
      const view = request?.view
      if (!request || !view)
        throw new Error('a stream that allocates was asked for bytes without room for them')
      try {
        const filled = await filler.fill(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
        if (filler.isCancelled()) return
        if (filled === 0) {
          controller.close()
          source.over()
        }
        request.respond(filled)
      } catch (error) {
        if (filler.isCancelled()) return
        filler.cancel()
        source.over()
        source.failed(error)
        throw error
      }
    },
    cancel() {
      filler.cancel()
      source.over()
    },
  })
}

interface ArchiveFiller {
  /** How many of the target's bytes came: all of them, or fewer at the end and 0 behind it. */
  fill(target: Uint8Array): Promise<number>
  /** Lets go of everything; nobody asks for more. */
  cancel(): void
  isCancelled(): boolean
}

type Content = Extract<ZipSegment, { kind: 'content' }>

/** A part of a content and its place in the target. */
interface Reading {
  readonly entry: number
  readonly start: number
  readonly into: Uint8Array
}

function archiveFiller(segments: Generator<ZipSegment>, source: ArchiveSource): ArchiveFiller {
  /** What of a segment did not go into the target before. */
  let rest: ZipSegment | null = null
  let streamed: FillingStream | null = null
  /** The large entry that does not come as a stream. */
  let unstreamed: number | null = null
  let isCancelled = false
  const passed = passing()
  /** The entry whose header was the last that went out; nobody knows yet whether its content can be read. */
  let begun: number | null = null
  /** Those of which something came after the header, to be told of once all of it could be read. */
  const followed: number[] = []

  function noteSegment(segment: ZipSegment): void {
    if (begun !== null) followed.push(begun)
    begun = segment.kind === 'record' ? segment.begins : null
  }

  function tellBegun(): void {
    for (const entry of followed.splice(0)) source.began(entry)
  }

  function nextSegment(): ZipSegment | null {
    if (rest !== null) {
      const segment = rest
      rest = null
      return segment
    }
    const { done, value } = segments.next()
    passed()
    if (done === true) return null
    noteSegment(value)
    return value
  }

  const mayStream = ({ entry, start, end }: Content) => end - start > SMALL && entry !== unstreamed

  async function openStream({ entry, start, end }: Content): Promise<boolean> {
    const stream = await source.stream(entry, start, end)
    if (stream === null) unstreamed = entry
    else {
      streamed = fillingStream(stream, end - start)
      if (isCancelled) streamed.cancel()
    }
    return stream !== null
  }

  async function read(readings: readonly Reading[]): Promise<void> {
    const waiting = readings.values()
    const lane = async () => {
      for (const { entry, start, into } of waiting) {
        if (isCancelled) return
        await source.fill(entry, start, into)
      }
    }
    await Promise.all(Array.from({ length: Math.min(LANES, readings.length) }, lane))
  }

  return {
    async fill(target) {
      const readings: Reading[] = []
      let filled = 0
      while (filled < target.length && !isCancelled) {
        const room = target.length - filled
        if (streamed !== null) {
          const came = await streamed.fill(target.subarray(filled))
          if (came < room) streamed = null
          if (readings.length === 0) tellBegun()
          filled += came
          continue
        }
        const segment = nextSegment()
        if (segment === null) break
        if (segment.kind === 'record') {
          const { bytes } = segment
          const some = bytes.length <= room ? bytes : bytes.subarray(0, room)
          target.set(some, filled)
          filled += some.length
          if (some !== bytes) rest = { ...segment, bytes: bytes.subarray(room) }
        } else if (!mayStream(segment) || !(await openStream(segment))) {
          const { entry, start, end } = segment
          const length = Math.min(end - start, room)
          readings.push({ entry, start, into: target.subarray(filled, filled + length) })
          filled += length
          if (length < end - start) rest = { ...segment, start: start + length }
        }
      }
      await read(readings)
      if (streamed === null) tellBegun()
      return filled
    },

    cancel() {
      isCancelled = true
      streamed?.cancel()
    },

    isCancelled: () => isCancelled,
  }
}

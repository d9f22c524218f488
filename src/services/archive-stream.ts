import type { BlobBody } from '../blobs/blob-store.ts'
import type { ZipSegment } from '../domain/zip-layout.ts'
import { bodyPieces, type Pieces, wholeBody } from './body-pieces.ts'

/** Content up to this size is read at once and before its turn. */
const SMALL = 512 * 1024
/** How many segments may be under way or lie ready, and how many bytes of them. */
const MOST_AHEAD = 32
const AHEAD_BYTES = 2 * 1024 * 1024
/** What is less is joined with what comes after it, because every chunk costs some time by itself. */
const LEAST_CHUNK = 256 * 1024

export interface ArchiveSource {
  /** The bytes `start` to `end` (exclusive) of an entry's content. */
  read(entry: number, start: number, end: number): Promise<BlobBody>
  /** The entry is about to be sent from its first byte on. */
  began(entry: number): void
  /** The stream broke off because of this. */
  failed(error: unknown): void
}

/**
 * The segments as one stream. It reads a little ahead of its reader, fails when a content is not as long as the layout
 * says, and lets go of everything as soon as it is cancelled.
 */
export function archiveStream(
  segments: Generator<ZipSegment>,
  source: ArchiveSource,
): ReadableStream<Uint8Array> {
  const pieces = segmentPieces(segments, source)
  let isCancelled = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await nextChunk(pieces)
          if (isCancelled) return
          if (chunk === null) controller.close()
          else controller.enqueue(chunk)
        } catch (error) {
          if (isCancelled) return
          pieces.cancel()
          source.failed(error)
          throw error
        }
      },
      cancel() {
        isCancelled = true
        pieces.cancel()
      },
    },
    { highWaterMark: 0 },
  )
}

async function nextChunk(pieces: Pieces): Promise<Uint8Array | null> {
  const gathered: Uint8Array[] = []
  let length = 0
  while (length < LEAST_CHUNK) {
    const piece = await pieces.next()
    if (piece === null) break
    gathered.push(piece)
    length += piece.length
  }
  return gathered.length <= 1 ? (gathered[0] ?? null) : Buffer.concat(gathered, length)
}

type Content = Extract<ZipSegment, { kind: 'content' }>

/** A segment whose turn comes. A large content is opened no sooner than that. */
type Ahead =
  | { readonly kind: 'ready'; readonly bytes: Uint8Array }
  | { readonly kind: 'small'; readonly size: number; readonly bytes: Promise<Uint8Array> }
  | { readonly kind: 'large'; readonly content: Content }

function segmentPieces(segments: Generator<ZipSegment>, source: ArchiveSource): Pieces {
  const ahead: Ahead[] = []
  let aheadBytes = 0
  let large: Pieces | null = null
  let isCancelled = false

  function readAhead(): void {
    while (ahead.length < MOST_AHEAD && aheadBytes < AHEAD_BYTES && ahead.at(-1)?.kind !== 'large') {
      const { done, value } = segments.next()
      if (done === true) return
      ahead.push(begin(value))
    }
  }

  function begin(segment: ZipSegment): Ahead {
    if (segment.kind === 'record') {
      if (segment.begins !== null) source.began(segment.begins)
      return { kind: 'ready', bytes: segment.bytes }
    }
    const { entry, start, end } = segment
    const size = end - start
    if (size > SMALL) return { kind: 'large', content: segment }
    const bytes = source.read(entry, start, end).then((body) => wholeBody(body, size))
    // Whoever's turn it is hears of its failure; after a cancel nobody does.
    bytes.catch(() => {})
    aheadBytes += size
    return { kind: 'small', size, bytes }
  }

  async function open({ entry, start, end }: Content): Promise<Pieces> {
    const pieces = bodyPieces(await source.read(entry, start, end), end - start)
    if (isCancelled) pieces.cancel()
    return pieces
  }

  return {
    async next() {
      while (!isCancelled) {
        const piece = large === null ? null : await large.next()
        if (piece !== null) return piece
        large = null
        readAhead()
        const item = ahead.shift()
        switch (item?.kind) {
          case undefined:
            return null
          case 'ready':
            return item.bytes
          case 'small':
            aheadBytes -= item.size
            return item.bytes
          case 'large':
            large = await open(item.content)
        }
      }
      return null
    },

    cancel() {
      isCancelled = true
      ahead.length = 0
      large?.cancel()
    },
  }
}

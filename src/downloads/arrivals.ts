import type { BlobStore } from '../blobs/blob-store.ts'
import { type Clock, MINUTE, SECOND, sleep } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { BlobKey, FileId, Slug, UploadId } from '../domain/ids.ts'
import { fileNotFound } from '../files/own-file.ts'
import { createAtOnce } from '../server/answers/at-once.ts'
import { storedResponse } from '../server/answers/known-body.ts'
import { parseRange } from '../server/answers/ranges.ts'
import type { Call } from '../server/call.ts'
import { type ArrivedSoFar, ArrivingBody } from './arriving-body.ts'
import { contentDisposition } from './disposition.ts'

/** Readers of arriving files: each asks the database twice a second, and holds a file and two buffers. */
const MOST_READERS = 200
const MOST_READERS_OF_ADDRESS = 16

/** How often readers look how far the upload is; senders record it every second. */
const LOOK_EVERY = SECOND / 2
/** For so long an answer waits for its first byte, so that proxies do not give it up. */
const FIRST_BYTE_WITHIN = 25 * SECOND
/** A reader for whom nothing has come for so long asks again: whether it is still there cannot always be told. */
const QUIET = 2 * MINUTE
/** How often a reader is asked for its right to read: others end it meanwhile. */
const LET_IN_FOR = 5 * SECOND

/** Files for whoever waits for them while they are still being uploaded. */
export interface Arrivals {
  /** Whether anything would be sent now. */
  canSend(upload: { readonly received: number }): boolean
  /**
   * Answers a GET: what is durable, and the rest as it comes. The last byte is sent when the file is there, so that nobody
   * takes for whole what never became a file: then the connection is closed before. Null where the file is there
   * meanwhile. Throws Refusal FILE_ARRIVING when nothing can be sent yet, and FILE_NOT_FOUND when nothing will.
   */
  send(call: Call, upload: ArrivingUpload, reader: ArrivalReader): Promise<Response | null>
}

export interface ArrivalReader {
  /** Whether it may still see the file, of which the access rule is asked again. */
  isLetIn(): Promise<boolean>
  /** Called when all of a file was sent from its first byte on. */
  taken(file: FileId): void
}

/** An upload that is going to be a file. */
export interface ArrivingUpload {
  readonly id: UploadId
  readonly slug: Slug
  readonly key: BlobKey
  readonly name: string
  /** Null while it is not known. */
  readonly size: number | null
}

/** How far an upload is: `there` once it has become a file, `gone` when it never will. */
type Progress =
  | { readonly kind: 'arriving'; readonly received: number }
  | { readonly kind: 'there'; readonly size: number; readonly file: FileId }
  | { readonly kind: 'gone' }

/** Tells how far an upload is; `received`: bytes that are durable. */
export type ProgressOf = (upload: UploadId) => Promise<Progress>

interface ArrivalParts {
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly progressOf: ProgressOf
}

export function createArrivals({ blobs, clock, progressOf }: ArrivalParts): Arrivals {
  const readers = createAtOnce(MOST_READERS, MOST_READERS_OF_ADDRESS)

  /** Looks until the answer is good, the time is over, or nobody waits any more. */
  async function looked(
    upload: UploadId,
    isGood: (progress: Progress) => boolean,
    limits: { readonly quiet: number; readonly isWaiting: () => boolean },
  ): Promise<Progress> {
    let changed = clock.monotonic()
    let last = -1
    for (;;) {
      const progress = await progressOf(upload)
      if (isGood(progress) || !limits.isWaiting()) return progress
      const received = progress.kind === 'arriving' ? progress.received : last
      if (received !== last) changed = clock.monotonic()
      last = received
      if (clock.monotonic() - changed >= limits.quiet) return progress
      await sleep(clock.timers, LOOK_EVERY)
    }
  }

  async function begin(call: Call, upload: ArrivingUpload, over: () => void, reader: ArrivalReader) {
    const { status, headers, start, end } = answerOf(call, upload)
    const isReadable = ({ received }: { readonly received: number }) =>
      blobs.readsGrowing && readable(received) > start
    const first = await looked(
      upload.id,
      (progress) => progress.kind !== 'arriving' || isReadable(progress),
      { quiet: FIRST_BYTE_WITHIN, isWaiting: () => !call.request.signal.aborted },
    )
    if (first.kind === 'gone') throw fileNotFound()
    if (first.kind === 'there') return null
    const blob = isReadable(first) ? await blobs.openGrowing(upload.key) : null
    if (blob === null) throw stillArriving()
    let isWaiting = true
    let file: FileId | null = null
    let letInAt = clock.monotonic()
    const pastIt = async (position: number): Promise<ArrivedSoFar> => {
      const isPast = (progress: Progress) =>
        progress.kind !== 'arriving' || readable(progress.received) > position
      const now = await looked(upload.id, isPast, { quiet: QUIET, isWaiting: () => isWaiting })
      if (!isWaiting) return { end: position, isWhole: false }
      if (clock.monotonic() - letInAt >= LET_IN_FOR) {
        if (!(await reader.isLetIn())) throw fileNotFound()
        letInAt = clock.monotonic()
      }
      if (now.kind === 'there') {
        file = now.file
        return { end: now.size, isWhole: true }
      }
      if (now.kind === 'gone') throw fileNotFound()
      if (!isPast(now)) throw stillArriving()
      return { end: readable(now.received), isWhole: false }
    }
    const body = new ArrivingBody(blob, { start, end }, pastIt, (isWhole) => {
      isWaiting = false
      over()
      if (isWhole && start === 0 && file !== null) reader.taken(file)
    })
    return storedResponse(body, { status, headers })
  }

  return {
    canSend: ({ received }) => blobs.readsGrowing && readable(received) > 0,

    async send(call, upload, reader) {
      const over = readers.begin(call.bucket)
      try {
        const response = await begin(call, upload, over, reader)
        if (response === null) over()
        return response
      } catch (error) {
        over()
        throw error
      }
    },
  }
}

/** The last byte that is there is kept back: it may be the last of all. */
function readable(received: number): number {
  return Math.max(0, received - 1)
}

function stillArriving(): Refusal {
  return new Refusal('FILE_ARRIVING', 'This file is still arriving; come back in a moment', 1)
}

/** Without a validator: the hash is not known yet, so that `If-Range` never holds. */
function answerOf(call: Call, { name, size }: ArrivingUpload) {
  const { headers: asked } = call.request
  const headers = new Headers({
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': contentDisposition('attachment', name),
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': "sandbox; default-src 'none'",
  })
  if (size === null) return { status: 200, headers, start: 0, end: null }
  headers.set('Accept-Ranges', 'bytes')
  const range = parseRange(asked.has('if-range') ? null : asked.get('range'), size)
  if (range.kind === 'unsatisfiable') {
    call.headers.set('Content-Range', `bytes */${size}`)
    throw new Refusal('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes; ask for a range within them`)
  }
  const { start, end } = range.kind === 'part' ? range : { start: 0, end: size }
  headers.set('Content-Length', String(end - start))
  if (range.kind === 'part') headers.set('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  return { status: range.kind === 'part' ? 206 : 200, headers, start, end }
}

import type { BlobStore } from '../blobs/blob-store.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Slug, UploadId } from '../domain/ids.ts'
import { fileNotFound } from '../files/own-file.ts'
import { createConcurrencyLimit } from '../server/answers/concurrency-limit.ts'
import { storedResponse } from '../server/answers/known-body.ts'
import { parseRange } from '../server/answers/ranges.ts'
import type { Call } from '../server/call.ts'
import { type ArrivalOf, bytesAt, type PartialReads } from './arrival-progress.ts'
import { ArrivingBlobs } from './arriving-blobs.ts'
import { ArrivingBody } from './arriving-body.ts'
import { contentDisposition } from './disposition.ts'
import { type ArrivalReader, stillArriving, UploadFollower } from './upload-follower.ts'

/** Readers of arriving files: each asks the database twice a second, and holds a file and two buffers. */
const MOST_READERS = 200
const MOST_READERS_OF_ADDRESS = 16

/** Downloads of files that are still being uploaded. */
export interface Arrivals {
  /** Whether anything would be sent now from the first byte on. */
  canSend(upload: Pick<ArrivingUpload, 'id'>): Promise<boolean>
  /**
   * Answers a GET: what is durable, and the rest as it comes. The last byte is sent when the file is there, so that nobody
   * takes for whole what never became a file: then the connection is closed before. Null where the file is there
   * meanwhile. Throws Refusal FILE_ARRIVING when nothing can be sent yet, and FILE_NOT_FOUND when nothing will.
   */
  send(call: Call, upload: ArrivingUpload, reader: ArrivalReader): Promise<Response | null>
}

/** An upload that is going to be a file. */
export interface ArrivingUpload {
  readonly id: UploadId
  readonly slug: Slug
  readonly name: string
  /** Null while it is not known. */
  readonly size: number | null
}

interface ArrivalParts {
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly arrivalOf: ArrivalOf
  readonly partialReads: PartialReads
}

export function createArrivals({ blobs, clock, arrivalOf, partialReads }: ArrivalParts): Arrivals {
  const readers = createConcurrencyLimit(MOST_READERS, MOST_READERS_OF_ADDRESS)

  async function begin(
    call: Call,
    upload: ArrivingUpload,
    opened: ArrivingBlobs,
    reader: ArrivalReader,
    over: () => void,
  ) {
    const { status, headers, start, end } = answerOf(call, upload)
    const follower = new UploadFollower({
      clock,
      arrivalOf,
      partialReads,
      blobs: opened,
      upload: upload.id,
      reader,
    })
    const arrival = await follower.begin(start, () => !call.request.signal.aborted)
    if (arrival.kind === 'gone') throw fileNotFound()
    if (arrival.kind === 'there') return null
    if ((await follower.readable(arrival, start)) === null) throw stillArriving()
    const body = new ArrivingBody(opened, { start, end }, follower.bytesAt.bind(follower), (isWhole) => {
      follower.end(isWhole && start === 0)
      over()
    })
    return storedResponse(body, { status, headers })
  }

  return {
    canSend: async ({ id }) => bytesAt(await arrivalOf(id), 0) !== null,

    async send(call, upload, reader) {
      const over = readers.begin(call.bucket)
      const opened = new ArrivingBlobs(blobs)
      let response: Response | null = null
      try {
        response = await begin(call, upload, opened, reader, over)
        return response
      } finally {
        if (response === null) {
          over()
          await opened.close()
        }
      }
    },
  }
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

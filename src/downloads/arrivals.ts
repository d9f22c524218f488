import type { BlobStore } from '../blobs/blob-store.ts'
import { holderOf, type SharedCeiling, Shares } from '../core/shares.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Slug, UploadId } from '../domain/ids.ts'
import { fileNotFound } from '../files/own-file.ts'
import { storedResponse } from '../server/answers/known-body.ts'
import { parseRange } from '../server/answers/ranges.ts'
import type { Call } from '../server/call.ts'
import { type ArrivalOf, bytesAt, type PartialReads } from './arrival-progress.ts'
import { ArrivingBlobs } from './arriving-blobs.ts'
import { ArrivingBody } from './arriving-body.ts'
import { isProbe } from './bytes-sent.ts'
import { contentDisposition } from './disposition.ts'
import { type ArrivalReader, stillArriving, UploadFollower } from './upload-follower.ts'

/** Each reader asks the database twice a second, and holds a file and two buffers. */
export const WAITING_READERS: SharedCeiling = {
  all: { holders: 200, size: 0 },
  each: { holders: 16, size: 0 },
  kept: 1 / 4,
  idleAfter: 5 * SECOND,
}

export interface Arrivals {
  canSend(upload: Pick<ArrivingUpload, 'id'>): Promise<boolean>
  /**
   * The last byte waits until the file is stored, so that a client cannot take an abandoned upload for a whole file;
   * for that the connection closes early. Null where the file is stored meanwhile. Throws Refusal FILE_ARRIVING when
   * nothing can be sent yet, and FILE_NOT_FOUND when nothing will.
   */
  send(call: Call, upload: ArrivingUpload, reader: ArrivalReader): Promise<Response | null>
}

export interface ArrivingUpload {
  readonly id: UploadId
  readonly slug: Slug
  readonly name: string
  readonly size: number | null
}

interface ArrivalParts {
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly arrivalOf: ArrivalOf
  readonly partialReads: PartialReads
}

export function createArrivals({ blobs, clock, arrivalOf, partialReads }: ArrivalParts): Arrivals {
  const readers = new Shares(clock, WAITING_READERS)

  async function begin(
    call: Call,
    upload: ArrivingUpload,
    opened: ArrivingBlobs,
    reader: ArrivalReader,
    turn: Turn,
  ) {
    const { status, headers, start, end } = answerOf(call, upload)
    const isOfProbe = end !== null && upload.size !== null && isProbe({ end, whole: upload.size })
    const follower = new UploadFollower({
      clock,
      arrivalOf,
      partialReads,
      blobs: opened,
      upload: upload.id,
      reader,
    })
    const arrival = await follower.begin(start, () => !call.request.signal.aborted && !turn.isOver())
    if (turn.isOver()) throw tookPlace()
    if (arrival.kind === 'gone') throw fileNotFound()
    if (arrival.kind === 'there') return null
    if ((await follower.readable(arrival, start)) === null) throw stillArriving()
    const body = new ArrivingBody(opened, { start, end }, follower.bytesAt.bind(follower), {
      sending: turn.used,
      over(isWhole) {
        follower.end(isWhole && start === 0 && !isOfProbe)
        turn.end()
      },
    })
    turn.yields = () => body.fail(tookPlace())
    return storedResponse(body, { status, headers })
  }

  return {
    canSend: async ({ id }) => bytesAt(await arrivalOf(id), 0) !== null,

    async send(call, upload, reader) {
      const turn = takeTurn(readers, call)
      const opened = new ArrivingBlobs(blobs)
      let response: Response | null = null
      try {
        response = await begin(call, upload, opened, reader, turn)
        return response
      } finally {
        if (response === null) {
          turn.end()
          await opened.close()
        }
      }
    },
  }
}

interface Turn {
  isOver(): boolean
  used(): void
  end(): void
  /** Ends the answer in favour of another reader; set with the answer. */
  yields: () => void
}

/** Throws Refusal RATE_LIMITED or SERVER_BUSY. */
function takeTurn(readers: Shares, call: Call): Turn {
  let isOver = false
  const { used, end } = readers.begin(holderOf(call), 0, () => {
    isOver = true
    turn.yields()
  })
  const turn: Turn = { isOver: () => isOver, used, end, yields: () => {} }
  return turn
}

function tookPlace(): Refusal {
  return new Refusal('SERVER_BUSY', 'Others took the place of this answer, which waited; try again soon', 5)
}

/** No validator: the hash is not known yet, so `If-Range` never holds. */
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

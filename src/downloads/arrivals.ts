import {
  type BlobChunks,
  BlobMissing,
  type BlobStore,
  type GrowingBlob,
  type KeptBlob,
  StoreFailure,
} from '../blobs/blob-store.ts'
import type { Arrival } from '../core/callers.ts'
import { holderOf, type SharedCeiling, Shares } from '../core/shares.ts'
import { type Clock, MINUTE, SECOND, sleep } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { BlobKey, FileId, Slug, UploadId } from '../domain/ids.ts'
import { fileNotFound } from '../files/files.ts'
import { type SourceChunks, storedResponse } from '../server/answers/answers.ts'
import { parseRange } from '../server/answers/part-to-send.ts'
import type { Call } from '../server/call.ts'
import { contentDisposition, isProbe } from './send.ts'

/** Each reader asks the database twice a second, and holds a file and two buffers. */
export const WAITING_READERS: SharedCeiling = {
  all: { holders: 200, size: 0 },
  each: { holders: 16, size: 0 },
  kept: 1 / 4,
  idleAfter: 5 * SECOND,
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

export function createArrivals({ blobs, clock, arrivalOf, partialReads }: ArrivalParts) {
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
    canSend: async ({ id }: Pick<ArrivingUpload, 'id'>): Promise<boolean> =>
      bytesAt(await arrivalOf(id), 0) !== null,

    /**
     * The last byte waits until the file is stored, so that a client cannot take an abandoned upload for a whole file;
     * for that the connection closes early. Null where the file is stored meanwhile. Throws Refusal FILE_ARRIVING when
     * nothing can be sent yet, and FILE_NOT_FOUND when nothing will.
     */
    async send(call: Call, upload: ArrivingUpload, reader: ArrivalReader): Promise<Response | null> {
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

/** Bytes. Short, because many readers may wait, each with two buffers. */
const LONGEST_CHUNK = 128 * 1024
const MOST_TRIES = 5

/** `isFresh`: ignore known progress. */
type BytesAt = (position: number, isFresh: boolean) => Promise<ArrivedBytes | null>

interface ArrivingBodyWatch {
  sending(): void
  /** Called once. */
  over(isWhole: boolean): void
}

class ArrivingBody implements SourceChunks {
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

/** Shorter would be useless: uploads record progress every second. */
const LOOK_EVERY = SECOND / 2
const ASK_EVERY = 2 * SECOND
/** Before proxies time out. */
const FIRST_BYTE_WITHIN = 25 * SECOND
/** Then the reader must ask again: whether it is still connected cannot always be told. */
const QUIET = 2 * MINUTE
/** Validity of an access check while nothing comes. */
const LET_IN_FOR = 5 * SECOND

interface ArrivalReader {
  /** Asks the access rule again. */
  isLetIn(): Promise<boolean>
  taken(file: FileId): void
}

interface FollowingParts {
  readonly clock: Clock
  readonly arrivalOf: ArrivalOf
  readonly partialReads: PartialReads
  readonly blobs: Pick<ArrivingBlobs, 'readable'>
  readonly upload: UploadId
  readonly reader: ArrivalReader
}

class UploadFollower {
  readonly #parts: FollowingParts
  #known: { readonly arrival: Arrival; readonly at: number } | null = null
  #letInAt: number
  #askedAt = Number.NEGATIVE_INFINITY
  #isOver = false

  constructor(parts: FollowingParts) {
    this.#parts = parts
    this.#letInAt = parts.clock.monotonic()
  }

  /** Throws Refusal FILE_NOT_FOUND when the reader loses access. */
  begin(position: number, isWaiting: () => boolean): Promise<Arrival> {
    return this.#looked(position, { most: FIRST_BYTE_WITHIN, quiet: FIRST_BYTE_WITHIN, isWaiting })
  }

  /**
   * Null once ended. Throws Refusal FILE_NOT_FOUND when none will come for this reader, FILE_ARRIVING after too long.
   */
  async bytesAt(position: number, isFresh: boolean): Promise<ArrivedBytes | null> {
    const known = isFresh ? null : await this.#knownBytes(position)
    if (known !== null) return known
    const isWaiting = () => !this.#isOver
    const arrival = await this.#looked(position, { most: Number.POSITIVE_INFINITY, quiet: QUIET, isWaiting })
    if (this.#isOver) return null
    if (arrival.kind === 'gone') throw fileNotFound()
    const bytes = await this.readable(arrival, position)
    if (bytes === null) throw stillArriving()
    return bytes
  }

  end(isWhole: boolean): void {
    this.#isOver = true
    const arrival = this.#known?.arrival
    if (isWhole && arrival?.kind === 'there') this.#parts.reader.taken(arrival.file)
  }

  async readable(arrival: Arrival, position: number): Promise<ArrivedBytes | null> {
    const bytes = bytesAt(arrival, position)
    return bytes === null ? null : this.#parts.blobs.readable(bytes, position)
  }

  async #knownBytes(position: number): Promise<ArrivedBytes | null> {
    if (this.#known === null || this.#isOver) return null
    const { arrival, at } = this.#known
    return this.#parts.clock.monotonic() - at < LOOK_EVERY ? this.readable(arrival, position) : null
  }

  /** The receiving node makes durable bytes readable. */
  async #askFor(arrival: Arrival, position: number): Promise<void> {
    const { clock, partialReads, upload } = this.#parts
    const bytes = bytesAt(arrival, position)
    if (bytes === null || clock.monotonic() - this.#askedAt < ASK_EVERY) return
    this.#askedAt = clock.monotonic()
    await partialReads.makeReadable(upload, bytes.key)
  }

  /** Before new bytes are sent, and periodically while none come: a reader without access must not wait on. */
  async #assertLetIn(now: number, hasCome: boolean): Promise<void> {
    if (!hasCome && now - this.#letInAt < LET_IN_FOR) return
    if (!(await this.#parts.reader.isLetIn())) throw fileNotFound()
    this.#letInAt = now
  }

  async #looked(
    position: number,
    limits: { readonly most: number; readonly quiet: number; readonly isWaiting: () => boolean },
  ): Promise<Arrival> {
    const { clock, arrivalOf, upload } = this.#parts
    const asked = clock.monotonic()
    let changed = asked
    let last = -1
    for (;;) {
      const at = clock.monotonic()
      const arrival = await arrivalOf(upload)
      this.#known = { arrival, at }
      const isGood = arrival.kind !== 'arriving' || (await this.readable(arrival, position)) !== null
      if (limits.isWaiting()) await this.#assertLetIn(at, isGood)
      if (isGood || !limits.isWaiting()) return arrival
      await this.#askFor(arrival, position)
      const received = receivedIn(arrival)
      if (received !== last) changed = at
      last = received
      if (at - changed >= limits.quiet || at - asked >= limits.most) return arrival
      await sleep(clock.timers, LOOK_EVERY)
    }
  }
}

export function stillArriving(): Refusal {
  return new Refusal('FILE_ARRIVING', 'This file is still arriving; come back in a moment', 1)
}

type Blobs = Pick<BlobStore, 'read' | 'openGrowing'>

interface Opened {
  readonly key: BlobKey
  readonly blob: Pick<GrowingBlob, 'readInto' | 'close'>
  /** Set where the blob was opened before completion. */
  readonly growing: GrowingBlob | null
}

/** One open at a time. Throws as the store does. */
export class ArrivingBlobs {
  readonly #blobs: Blobs
  #present: Opened | null = null

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  /** Null when the store must make them readable first. */
  async readable(bytes: ArrivedBytes, position: number): Promise<ArrivedBytes | null> {
    if (bytes.whole !== null) return bytes
    const { growing } = await this.#opened(bytes)
    if (growing === null) return bytes
    const end = bytes.start + (await growing.readableFrom(position - bytes.start, bytes.kept))
    return end > position ? { ...bytes, end: Math.min(end, bytes.end) } : null
  }

  async readInto(bytes: ArrivedBytes, position: number, target: Uint8Array): Promise<void> {
    const { blob } = await this.#opened(bytes)
    await blob.readInto(position - bytes.start, target)
  }

  /** Never throws. No read may be in progress. */
  async close(): Promise<void> {
    const blob = this.#present?.blob
    this.#present = null
    await blob?.close()
  }

  async #opened({ key, whole }: ArrivedBytes): Promise<Opened> {
    if (this.#present?.key === key && (whole === null || this.#present.growing === null)) return this.#present
    await this.close()
    const growing = whole === null ? await this.#blobs.openGrowing(key) : null
    const opened = { key, growing, blob: growing ?? new ChunkedBlob(this.#blobs, key, whole ?? 0) }
    this.#present = opened
    return opened
  }
}

const NOTHING = new Uint8Array()

/** A complete blob, read in order. */
class ChunkedBlob {
  readonly #blobs: Blobs
  readonly #key: BlobKey
  readonly #size: number
  #chunks: BlobChunks | null = null
  #rest: Uint8Array = NOTHING
  #position = 0

  constructor(blobs: Blobs, key: BlobKey, size: number) {
    this.#blobs = blobs
    this.#key = key
    this.#size = size
  }

  async readInto(start: number, target: Uint8Array): Promise<void> {
    if (this.#chunks === null || start !== this.#position) await this.#begin(start)
    for (let filled = 0; filled < target.length; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next()
      const bytes = this.#rest.subarray(0, target.length - filled)
      target.set(bytes, filled)
      filled += bytes.length
      this.#rest = this.#rest.subarray(bytes.length)
      this.#position += bytes.length
    }
  }

  async close(): Promise<void> {
    this.#chunks?.cancel()
    this.#chunks = null
    this.#rest = NOTHING
  }

  async #begin(start: number): Promise<void> {
    await this.close()
    this.#chunks = await this.#blobs.read(this.#key, start, this.#size, this.#size)
    this.#position = start
  }

  async #next(): Promise<Uint8Array> {
    const chunk = await this.#chunks?.next()
    if (chunk == null)
      throw new StoreFailure('broken', { cause: new Error(`blob ${this.#key} ends too early`) })
    return chunk
  }
}

export type ArrivalOf = (upload: UploadId) => Promise<Arrival>

export interface PartialReads {
  makeReadable(upload: UploadId, key: BlobKey): Promise<void>
}

export type ArrivedBytes = {
  readonly key: BlobKey
  readonly start: number
  /** Position in the file, exclusive. */
  readonly end: number
} & (
  | {
      /** Size of a complete blob. */
      readonly whole: number
    }
  | {
      readonly whole: null
      /** State of a blob that may still grow. */
      readonly kept: KeptBlob
    }
)

/** Null while there are none, or never will be. Withholds the last byte of an arriving file, and any that may be it. */
export function bytesAt(arrival: Arrival, position: number): ArrivedBytes | null {
  if (arrival.kind === 'gone') return null
  if (arrival.kind === 'there') {
    const { key, size } = arrival
    return { key, start: 0, end: size, whole: size }
  }
  const piece = arrival.pieces.find(({ start, received }) => start <= position && position < start + received)
  if (piece === undefined) return null
  const { key, start, received, progress } = piece
  const end = Math.min(start + received, (arrival.size ?? start + received) - 1)
  if (position >= end) return null
  if (progress === null) return { key, start, end, whole: received }
  return { key, start, end, whole: null, kept: { offset: received, progress } }
}

export function receivedIn(arrival: Arrival): number {
  if (arrival.kind !== 'arriving') return 0
  return arrival.pieces.reduce((sum, { received }) => sum + received, 0)
}

import type { Arrival } from '../core/arrival.ts'
import { type Clock, MINUTE, SECOND, sleep } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileId, UploadId } from '../domain/ids.ts'
import { fileNotFound } from '../files/own-file.ts'
import {
  type ArrivalOf,
  type ArrivedBytes,
  bytesAt,
  type PartialReads,
  receivedIn,
} from './arrival-progress.ts'
import type { ArrivingBlobs } from './arriving-blobs.ts'

/** How often readers look how far the upload is; senders record it every second. */
const LOOK_EVERY = SECOND / 2
/** How often it is asked for that what has come can be read. */
const ASK_EVERY = 2 * SECOND
/** For so long an answer waits for its first byte, so that proxies do not give it up. */
const FIRST_BYTE_WITHIN = 25 * SECOND
/** A reader for whom nothing has come for so long asks again: whether it is still there cannot always be told. */
const QUIET = 2 * MINUTE
/** How often a reader to whom nothing comes is asked for its right to read: others end it meanwhile. */
const LET_IN_FOR = 5 * SECOND

export interface ArrivalReader {
  /** Whether it may still see the file, of which the access rule is asked again. */
  isLetIn(): Promise<boolean>
  /** Called when all of a file was sent from its first byte on. */
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

/** How far an upload is, for one reader of it. */
export class UploadFollower {
  readonly #parts: FollowingParts
  #known: { readonly arrival: Arrival; readonly at: number } | null = null
  #letInAt: number
  #askedAt = Number.NEGATIVE_INFINITY
  #isOver = false

  constructor(parts: FollowingParts) {
    this.#parts = parts
    this.#letInAt = parts.clock.monotonic()
  }

  /**
   * Looks until there are bytes at the position or the upload has ended, or for as long as an answer may wait for its
   * first byte. Throws Refusal FILE_NOT_FOUND when the reader may no longer see the file.
   */
  begin(position: number, isWaiting: () => boolean): Promise<Arrival> {
    return this.#looked(position, { most: FIRST_BYTE_WITHIN, quiet: FIRST_BYTE_WITHIN, isWaiting })
  }

  /**
   * The bytes at the position, once there are some; null once it is over. `isFresh`: looks again in any case. Throws Refusal
   * FILE_NOT_FOUND when there never will be any for this reader, and FILE_ARRIVING when nothing has come for too long.
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

  /** Ends it; `isWhole`: all bytes of the file were sent. */
  end(isWhole: boolean): void {
    this.#isOver = true
    const arrival = this.#known?.arrival
    if (isWhole && arrival?.kind === 'there') this.#parts.reader.taken(arrival.file)
  }

  /** The bytes at the position that the store can read by now; null while there are none. */
  async readable(arrival: Arrival, position: number): Promise<ArrivedBytes | null> {
    const bytes = bytesAt(arrival, position)
    return bytes === null ? null : this.#parts.blobs.readable(bytes, position)
  }

  /** What was seen just now need not be asked for with each chunk. */
  async #knownBytes(position: number): Promise<ArrivedBytes | null> {
    if (this.#known === null || this.#isOver) return null
    const { arrival, at } = this.#known
    return this.#parts.clock.monotonic() - at < LOOK_EVERY ? this.readable(arrival, position) : null
  }

  /** Durable bytes that cannot be read yet are made readable by the node that receives them. */
  async #askFor(arrival: Arrival, position: number): Promise<void> {
    const { clock, partialReads, upload } = this.#parts
    const bytes = bytesAt(arrival, position)
    if (bytes === null || clock.monotonic() - this.#askedAt < ASK_EVERY) return
    this.#askedAt = clock.monotonic()
    await partialReads.makeReadable(upload, bytes.key)
  }

  /** Before bytes are sent that came meanwhile; also while nothing comes: a reader who is let in no more must not wait on. */
  async #assertLetIn(now: number, hasCome: boolean): Promise<void> {
    if (!hasCome && now - this.#letInAt < LET_IN_FOR) return
    if (!(await this.#parts.reader.isLetIn())) throw fileNotFound()
    this.#letInAt = now
  }

  /** Looks until there are bytes or the upload has ended, until the limits are reached, or nobody waits any more. */
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

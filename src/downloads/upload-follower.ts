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

/** Shorter would be useless: uploads record progress every second. */
const LOOK_EVERY = SECOND / 2
const ASK_EVERY = 2 * SECOND
/** Before proxies time out. */
const FIRST_BYTE_WITHIN = 25 * SECOND
/** Then the reader must ask again: whether it is still connected cannot always be told. */
const QUIET = 2 * MINUTE
/** Validity of an access check while nothing comes. */
const LET_IN_FOR = 5 * SECOND

export interface ArrivalReader {
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

import { type Holder, type Holding, type SharedCeiling, Shares } from '../../core/shares.ts'
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'

export interface ArchiveReader {
  readonly holder: Holder
  /** Aborted when the reader has gone or has the whole answer. */
  readonly gone: AbortSignal
}

export interface ArchiveSlot {
  /** Aborted with a Refusal when the archive has to end for another. */
  readonly yielded: AbortSignal
  /** Call when the plan is made: another may begin. */
  planned(): void
  used(): void
  /** The plan is freed. Harmless when repeated. */
  end(): void
}

export interface ArchiveLimits {
  /** Limits archives, and the entries of their plans. */
  readonly held: SharedCeiling
  readonly waiting: SharedCeiling
  readonly planning: number
  /** Milliseconds. */
  readonly patience: number
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  held: {
    all: { holders: 256, size: 400_000 },
    each: { holders: 32, size: 250_000 },
    kept: 1 / 4,
    idleAfter: MINUTE,
  },
  waiting: {
    all: { holders: 64, size: 0 },
    each: { holders: 16, size: 0 },
    kept: 1 / 4,
    idleAfter: 5 * SECOND,
  },
  planning: 2,
  patience: 15 * SECOND,
}

/** Seconds. */
const BUSY_RETRY = 15
const BUSY = 'The server makes as many archives as it can; try again shortly'
const WORDS = { each: BUSY, all: BUSY, retry: BUSY_RETRY }

interface Waiting {
  readonly holder: Holder
  readonly entries: number
  readonly start: (slot: ArchiveSlot) => void
}

/**
 * A plan takes some hundred bytes an entry until its archive is sent, for which a reader may take any time. A plan
 * above the limit is made when there is no other.
 */
export class ArchiveSlots {
  readonly #limits: ArchiveLimits
  readonly #held: Shares
  readonly #places: Shares
  readonly #waiting = new Set<Waiting>()
  #planning = 0

  constructor(clock: Clock, limits: ArchiveLimits = ARCHIVE_LIMITS) {
    this.#limits = limits
    this.#held = new Shares(clock, limits.held, WORDS)
    this.#places = new Shares(clock, limits.waiting, WORDS)
  }

  /** Throws Refusal SERVER_BUSY after too long or with too many waiting, and `gone`'s reason when the reader leaves. */
  async take(reader: ArchiveReader, entries: number): Promise<ArchiveSlot> {
    reader.gone.throwIfAborted()
    // An empty plan counts too.
    const weight = Math.max(1, entries)
    return this.#start(reader.holder, weight) ?? this.#wait(reader, weight)
  }

  /** Null at the limit of planning, or when it does not fit. */
  #start(holder: Holder, entries: number): ArchiveSlot | null {
    if (this.#planning >= this.#limits.planning) return null
    const ending = new AbortController()
    let holding: Holding
    try {
      holding = this.#held.begin(holder, entries, () => ending.abort(tookPlace()))
    } catch (error) {
      if (error instanceof Refusal) return null
      throw error
    }
    this.#planning++
    let isPlanning = true
    const planned = () => {
      if (isPlanning) this.#planning--
      isPlanning = false
    }
    return {
      yielded: ending.signal,
      used: holding.used,
      planned: () => {
        planned()
        this.#startWaiting()
      },
      end: () => {
        planned()
        holding.end()
        this.#startWaiting()
      },
    }
  }

  /** Networks that hold least come first, within one by waiting time. */
  #startWaiting(): void {
    const turns = [...this.#waiting].map((each) => ({ each, held: this.#held.around(each.holder).holders }))
    for (const { each } of turns.toSorted((a, b) => a.held - b.held)) {
      if (this.#planning >= this.#limits.planning) return
      const slot = this.#start(each.holder, each.entries)
      if (slot === null) continue
      this.#waiting.delete(each)
      each.start(slot)
    }
  }

  async #wait({ holder, gone }: ArchiveReader, entries: number): Promise<ArchiveSlot> {
    const { promise, resolve, reject } = Promise.withResolvers<ArchiveSlot>()
    const each: Waiting = { holder, entries, start: resolve }
    const leave = (reason: unknown) => {
      this.#waiting.delete(each)
      reject(reason)
    }
    const place = this.#takePlace(holder, () => leave(busy()))
    const timer = setTimeout(() => leave(busy()), this.#limits.patience)
    const left = () => leave(gone.reason)
    gone.addEventListener('abort', left, { once: true })
    this.#waiting.add(each)
    try {
      return await promise
    } finally {
      place.end()
      clearTimeout(timer)
      gone.removeEventListener('abort', left)
    }
  }

  #takePlace(holder: Holder, yielded: () => void): Holding {
    try {
      return this.#places.begin(holder, 0, yielded)
    } catch (error) {
      throw error instanceof Refusal ? busy() : error
    }
  }
}

function busy(): Refusal {
  return new Refusal('SERVER_BUSY', BUSY, BUSY_RETRY)
}

function tookPlace(): Refusal {
  const message = 'The archive was read so slowly that others took its place; try again shortly'
  return new Refusal('SERVER_BUSY', message, BUSY_RETRY)
}

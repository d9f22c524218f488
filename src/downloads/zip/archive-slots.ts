import { SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'

export interface ArchiveReader {
  /** The address as limits count it. */
  readonly address: string
  /** Aborted when the reader has gone or has got all of the answer. */
  readonly gone: AbortSignal
}

export interface ArchiveSlot {
  /** The plan is made: another may be. */
  planned(): void
  /** Nobody holds the plan any more. Harmless when called again. */
  end(): void
}

/** Archives of the process and of one address, and the entries that their plans have together. */
export interface ArchiveLimits {
  readonly archives: number
  readonly entries: number
  readonly ofAddress: { readonly archives: number; readonly entries: number; readonly waiting: number }
  /** Plans that are made at once. */
  readonly planning: number
  readonly waiting: number
  /** Milliseconds for which somebody waits. */
  readonly patience: number
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  archives: 256,
  entries: 400_000,
  ofAddress: { archives: 32, entries: 250_000, waiting: 16 },
  planning: 2,
  waiting: 64,
  patience: 15 * SECOND,
}

/** Seconds until it is worth another try. */
const BUSY_RETRY = 15

interface Held {
  archives: number
  entries: number
}

interface Waiting {
  readonly address: string
  readonly entries: number
  readonly start: (slot: ArchiveSlot) => void
}

/**
 * How many archives there are at a time, and what their plans hold in memory: a plan holds some hundred bytes for each
 * entry from when it is made until its archive is sent, and a reader may take as long as it likes. A plan that is larger
 * than all there is to be had is made when there is no other.
 */
export class ArchiveSlots {
  readonly #limits: ArchiveLimits
  readonly #all: Held = { archives: 0, entries: 0 }
  readonly #addresses = new Map<string, Held>()
  readonly #waiting = new Set<Waiting>()
  #planning = 0

  constructor(limits: ArchiveLimits = ARCHIVE_LIMITS) {
    this.#limits = limits
  }

  /**
   * Waits until a plan of so many entries fits, which is made from then on. Throws Refusal SERVER_BUSY when that takes
   * too long or too many wait, and what `gone` was aborted with when the reader leaves before.
   */
  async take(reader: ArchiveReader, entries: number): Promise<ArchiveSlot> {
    reader.gone.throwIfAborted()
    const { address } = reader
    // One without entries is a plan too.
    const weight = Math.max(1, entries)
    if (this.#mayStart(address, weight)) return this.#start(address, weight)
    const { waiting, ofAddress } = this.#limits
    const ofThis = this.#waiting.values().filter((each) => each.address === address)
    if (this.#waiting.size >= waiting || [...ofThis].length >= ofAddress.waiting) throw busy()
    return this.#wait(reader, weight)
  }

  #heldBy(address: string): Held {
    return this.#addresses.get(address) ?? { archives: 0, entries: 0 }
  }

  #mayStart(address: string, entries: number): boolean {
    return (
      this.#planning < this.#limits.planning &&
      fits(this.#all, entries, this.#limits) &&
      fits(this.#heldBy(address), entries, this.#limits.ofAddress)
    )
  }

  #add(address: string, archives: 1 | -1, entries: number): void {
    const held = this.#heldBy(address)
    for (const one of [this.#all, held]) {
      one.archives += archives
      one.entries += entries
    }
    if (held.archives === 0) this.#addresses.delete(address)
    else this.#addresses.set(address, held)
  }

  #start(address: string, entries: number): ArchiveSlot {
    this.#add(address, 1, entries)
    this.#planning++
    let isPlanning = true
    let isOver = false
    const planned = () => {
      if (isPlanning) this.#planning--
      isPlanning = false
    }
    return {
      planned: () => {
        planned()
        this.#startWaiting()
      },
      end: () => {
        planned()
        if (!isOver) this.#add(address, -1, -entries)
        isOver = true
        this.#startWaiting()
      },
    }
  }

  /** Starts whoever has waited longest of those that fit. */
  #startWaiting(): void {
    for (const each of this.#waiting) {
      if (this.#planning >= this.#limits.planning) return
      if (!this.#mayStart(each.address, each.entries)) continue
      this.#waiting.delete(each)
      each.start(this.#start(each.address, each.entries))
    }
  }

  #wait({ address, gone }: ArchiveReader, entries: number): Promise<ArchiveSlot> {
    const { promise, resolve, reject } = Promise.withResolvers<ArchiveSlot>()
    const each: Waiting = { address, entries, start: resolve }
    const leave = (reason: unknown) => {
      this.#waiting.delete(each)
      reject(reason)
    }
    const timer = setTimeout(() => leave(busy()), this.#limits.patience)
    const left = () => leave(gone.reason)
    gone.addEventListener('abort', left, { once: true })
    this.#waiting.add(each)
    return promise.finally(() => {
      clearTimeout(timer)
      gone.removeEventListener('abort', left)
    })
  }
}

function fits(held: Held, entries: number, most: Pick<ArchiveLimits, 'archives' | 'entries'>): boolean {
  return held.archives < most.archives && (held.entries === 0 || held.entries + entries <= most.entries)
}

function busy(): Refusal {
  return new Refusal(
    'SERVER_BUSY',
    'The server makes as many archives as it can; try again shortly',
    BUSY_RETRY,
  )
}

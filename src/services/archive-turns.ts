import { SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

/**
 * How many archives there are at a time, and what their plans hold in memory: a plan holds some hundred bytes for each entry
 * from when it is made until its archive is sent, and a reader may take as long as it likes.
 */
export interface ArchiveTurns {
  /**
   * Waits until there is room for a plan of so many entries, which is made from then on. Throws Refusal SERVER_BUSY when that
   * takes too long or too many wait, and what `gone` was aborted with when the reader leaves before.
   */
  take(reader: ArchiveReader, entries: number): Promise<ArchiveTurn>
}

export interface ArchiveReader {
  /** The address as limits count it. */
  readonly address: string
  /** Aborted when the reader has gone or has got all of the answer. */
  readonly gone: AbortSignal
}

export interface ArchiveTurn {
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
  readonly start: (turn: ArchiveTurn) => void
}

/** A plan that is larger than all there is to be had is made when there is no other. */
export function createArchiveTurns(limits: ArchiveLimits = ARCHIVE_LIMITS): ArchiveTurns {
  const all: Held = { archives: 0, entries: 0 }
  const addresses = new Map<string, Held>()
  const waiting = new Set<Waiting>()
  let planning = 0

  const fits = (held: Held, entries: number, most: { archives: number; entries: number }) =>
    held.archives < most.archives && (held.entries === 0 || held.entries + entries <= most.entries)

  const heldBy = (address: string): Held => addresses.get(address) ?? { archives: 0, entries: 0 }

  const mayStart = ({ address, entries }: { address: string; entries: number }) =>
    planning < limits.planning &&
    fits(all, entries, limits) &&
    fits(heldBy(address), entries, limits.ofAddress)

  function add(address: string, archives: 1 | -1, entries: number): void {
    const held = heldBy(address)
    for (const one of [all, held]) {
      one.archives += archives
      one.entries += entries
    }
    if (held.archives === 0) addresses.delete(address)
    else addresses.set(address, held)
  }

  function start(address: string, entries: number): ArchiveTurn {
    add(address, 1, entries)
    planning++
    let isPlanning = true
    let isOver = false
    const planned = () => {
      if (isPlanning) planning--
      isPlanning = false
    }
    return {
      planned() {
        planned()
        startWaiting()
      },
      end() {
        planned()
        if (!isOver) add(address, -1, -entries)
        isOver = true
        startWaiting()
      },
    }
  }

  /** Whoever has waited longest of those there is room for. */
  function startWaiting(): void {
    for (const each of waiting) {
      if (planning >= limits.planning) return
      if (!mayStart(each)) continue
      waiting.delete(each)
      each.start(start(each.address, each.entries))
    }
  }

  function wait({ address, gone }: ArchiveReader, entries: number): Promise<ArchiveTurn> {
    const { promise, resolve, reject } = Promise.withResolvers<ArchiveTurn>()
    const each: Waiting = { address, entries, start: resolve }
    const leave = (reason: unknown) => {
      waiting.delete(each)
      reject(reason)
    }
    const timer = setTimeout(() => leave(busy()), limits.patience)
    const left = () => leave(gone.reason)
    gone.addEventListener('abort', left, { once: true })
    waiting.add(each)
    return promise.finally(() => {
      clearTimeout(timer)
      gone.removeEventListener('abort', left)
    })
  }

  return {
    async take(reader, entries) {
      reader.gone.throwIfAborted()
      const { address } = reader
      // One without entries is a plan too.
      const weight = Math.max(1, entries)
      if (mayStart({ address, entries: weight })) return start(address, weight)
      const ofAddress = waiting.values().filter((each) => each.address === address)
      if (waiting.size >= limits.waiting || [...ofAddress].length >= limits.ofAddress.waiting) throw busy()
      return wait(reader, weight)
    },
  }
}

function busy(): Refusal {
  return new Refusal(
    'SERVER_BUSY',
    'The server makes as many archives as it can; try again shortly',
    BUSY_RETRY,
  )
}

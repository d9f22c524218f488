import { setTimeout } from 'node:timers/promises'
import type { Random } from '../domain/random.ts'

/** How long something that fails in passing is tried. */
export interface Patience {
  readonly tries: number
  /** Milliseconds after the first try's beginning in which another one may still begin. */
  readonly giveUpAfter: number
}

/** Time and chance, handed in so that tests need not wait. */
export interface Pacing {
  /** Milliseconds that only ever grow. */
  monotonic(): number
  /** Rejects at once when the signal is aborted. */
  wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void>
  readonly random: Random
}

export function systemPacing(random: Random): Pacing {
  return {
    monotonic: () => performance.now(),
    wait: (milliseconds, signal) =>
      setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal }),
    random,
  }
}

const FIRST_DELAY = 100
const LONGEST_DELAY = 3000

/**
 * Tries until it works, until an error is not `passing`, or until the patience is at its end; then throws the last
 * error. Between tries it waits longer each time, and by chance, so that nodes which failed together do not come
 * back together.
 */
export async function retrying<T>(
  attempt: (tries: number) => Promise<T>,
  options: {
    readonly passing: (error: unknown) => boolean
    readonly patience: Patience
    readonly pacing: Pacing
    readonly signal?: AbortSignal | undefined
  },
): Promise<T> {
  const { passing, patience, pacing, signal } = options
  const began = pacing.monotonic()
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries)
    } catch (error) {
      if (tries >= patience.tries || !passing(error)) throw error
      const delay = backoff(tries, pacing.random)
      if (pacing.monotonic() - began + delay > patience.giveUpAfter) throw error
      await pacing.wait(delay, signal)
    }
  }
}

/** Milliseconds: between half of the step and the whole; each step is twice the one before. */
function backoff(tries: number, random: Random): number {
  const step = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (tries - 1))
  const chance = Buffer.from(random(4)).readUInt32LE() / 2 ** 32
  return (step * (1 + chance)) / 2
}

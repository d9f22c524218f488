import { setTimeout } from 'node:timers/promises'
import type { Random } from '../domain/random.ts'

export interface StoreRetryPolicy {
  readonly tries: number
  /** Milliseconds from the beginning of the first try to the latest beginning of another. */
  readonly giveUpAfter: number
}

/** Replaced in tests. */
export interface Pacing {
  /** Milliseconds. */
  monotonic(): number
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

/** Throws the last error. Backoff has jitter, so that nodes which failed together do not retry together. */
export async function retrying<T>(
  attempt: (tries: number) => Promise<T>,
  options: {
    readonly isTransient: (error: unknown) => boolean
    readonly policy: StoreRetryPolicy
    readonly pacing: Pacing
    readonly signal?: AbortSignal | undefined
  },
): Promise<T> {
  const { isTransient, policy, pacing, signal } = options
  const began = pacing.monotonic()
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries)
    } catch (error) {
      if (tries >= policy.tries || !isTransient(error)) throw error
      const delay = backoff(tries, pacing.random)
      if (pacing.monotonic() - began + delay > policy.giveUpAfter) throw error
      await pacing.wait(delay, signal)
    }
  }
}

/** Milliseconds: between half a step and a whole one; steps double. */
function backoff(tries: number, random: Random): number {
  const step = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (tries - 1))
  const chance = Buffer.from(random(4)).readUInt32LE() / 2 ** 32
  return (step * (1 + chance)) / 2
}

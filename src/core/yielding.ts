/**
 * SQLite queries run synchronously on the event loop, so batch work has to yield explicitly for requests to
 * be served.
 */
import { SECOND, sleep, type Timers } from '../domain/clock.ts'

/**
 * Upper bound for a pause. A longer step mostly waited rather than computed, and a long pause would delay
 * shutdown.
 */
const MAX_PAUSE = SECOND

/** Yields to the event loop, so that pending requests are served. */
export const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Runs one step of background work, then pauses for as long as it took, a second at most, so that half of the
 * time is left to requests. Both are measured with the clock of the timers: with one that tests set, a leap would
 * prolong the pause.
 */
export async function withPause<T>(timers: Timers, step: () => Promise<T>): Promise<T> {
  const began = timers.monotonic()
  const result = await step()
  await sleep(timers, Math.min(timers.monotonic() - began, MAX_PAUSE))
  await yieldToEventLoop()
  return result
}

/**
 * SQLite queries run synchronously on the event loop, so batch work has to yield explicitly for requests to
 * be served.
 */
import { SECOND, systemClock } from '../domain/clock.ts'

/**
 * Upper bound for a pause. A longer step mostly waited rather than computed, and a long pause would delay
 * shutdown.
 */
const MAX_PAUSE = SECOND

/** Yields to the event loop, so that pending requests are served. */
export const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Runs one step of background work, then pauses for as long as it took, a second at most, so that half of the
 * time is left to requests. Both are measured with the system clock: with an injected clock, a leap would
 * prolong the pause.
 */
export async function unhurried<T>(step: () => Promise<T>): Promise<T> {
  const began = systemClock.monotonic()
  const result = await step()
  await Bun.sleep(Math.min(systemClock.monotonic() - began, MAX_PAUSE))
  await yieldToEventLoop()
  return result
}

/** SQLite queries block the event loop, so batch work must yield. */
import { SECOND, sleep, type Timers } from '../domain/clock.ts'

/** A longer step mostly waited, and a long pause would delay shutdown. */
const MAX_PAUSE = SECOND

export const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Pauses after the step for as long as it took, a second at most: half of the time is left to requests. The timers'
 * clock measures both, since a leap of a test's clock would prolong the pause.
 */
export async function withPause<T>(timers: Timers, step: () => Promise<T>): Promise<T> {
  const began = timers.monotonic()
  const result = await step()
  await sleep(timers, Math.min(timers.monotonic() - began, MAX_PAUSE))
  await yieldToEventLoop()
  return result
}

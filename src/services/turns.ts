/** SQLite answers on the thread that serves and never waits: requests get their turn only where it is given to them. */
import { SECOND, systemClock } from '../domain/clock.ts'

/** A step that took longer did not compute, it waited; its rest would be waited for by a server that stops. */
const LONGEST_REST = SECOND

/** Serves what has come in meanwhile. */
export const letOthersIn = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * One step of work that nobody waits for, and a rest as long, a second at most: half of the time is left to requests.
 * Both pass by the machine's own clock, since a rest taken by another could last as long as that one leaps.
 */
export async function unhurried<T>(step: () => Promise<T>): Promise<T> {
  const began = systemClock.monotonic()
  const result = await step()
  await Bun.sleep(Math.min(systemClock.monotonic() - began, LONGEST_REST))
  await letOthersIn()
  return result
}

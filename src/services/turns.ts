/** SQLite answers on the thread that serves and never waits: requests get their turn only where it is given to them. */
import type { Clock } from '../domain/clock.ts'

/** Serves what has come in meanwhile. */
export const letOthersIn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** One step of work that nobody waits for, and a rest as long: half of the time is left to requests. */
export async function unhurried<T>(clock: Clock, step: () => Promise<T>): Promise<T> {
  const began = clock.monotonic()
  const result = await step()
  await Bun.sleep(clock.monotonic() - began)
  await letOthersIn()
  return result
}

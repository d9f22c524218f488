import { SECOND, sleep, type Timers } from '../../domain/clock.ts'

/** Waits until so many further bytes may be read. */
export type Pace = (bytes: number) => Promise<void>

export const unpaced: Pace = async () => {}

/** At most so many bytes a second on average, for all that read by it together. What was not used is not saved up. */
export function paceOf(bytesPerSecond: number, timers: Timers): Pace {
  let free = timers.monotonic()
  return async (bytes) => {
    const now = timers.monotonic()
    free = Math.max(free, now) + (bytes * SECOND) / bytesPerSecond
    await sleep(timers, free - now)
  }
}

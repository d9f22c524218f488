import { unlessAborted } from '../../domain/abort.ts'
import { SECOND, sleep, type Timers } from '../../domain/clock.ts'

export type Throttle = (bytes: number) => Promise<void>

export const unthrottled: Throttle = async () => {}

/** Average bytes a second, shared by all callers; unused rate is not saved. Throws the signal's reason at once. */
export function createThrottle(bytesPerSecond: number, timers: Timers, signal?: AbortSignal): Throttle {
  let free = timers.monotonic()
  return async (bytes) => {
    const now = timers.monotonic()
    free = Math.max(free, now) + (bytes * SECOND) / bytesPerSecond
    if (signal === undefined) return sleep(timers, free - now)
    const over = Promise.withResolvers<void>()
    const cancel = timers.after(free - now, over.resolve)
    await unlessAborted(signal, over.promise).finally(cancel)
  }
}

import { unlessAborted } from '../../domain/abort.ts'
import { SECOND, sleep, type Timers } from '../../domain/clock.ts'

/** Waits until so many further bytes may be read. */
export type Throttle = (bytes: number) => Promise<void>

export const unthrottled: Throttle = async () => {}

/**
 * At most so many bytes a second on average, for all that read by it together. What was not used is not saved up. Throws the
 * reason of the signal as soon as that is aborted.
 */
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

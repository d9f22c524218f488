import { type Clock, HOUR } from '../domain/clock.ts'

/**
 * Tells how far the wall clock can be trusted. Irreversible work waits until wall and monotonic clock have
 * agreed for a while, so that a clock that was set wrong by mistake deletes nothing.
 */
export interface ClockGuard {
  /** Milliseconds for which both clocks have agreed; 0 just after a start or a leap. Must be called often. */
  agreedFor(): number
}

const LEAP = HOUR

export function createClockGuard(clock: Clock): ClockGuard {
  let since = clock.monotonic()
  let difference = clock.now() - since

  return {
    agreedFor() {
      const monotonic = clock.monotonic()
      const present = clock.now() - monotonic
      if (Math.abs(present - difference) > LEAP) {
        since = monotonic
        difference = present
      }
      return monotonic - since
    },
  }
}

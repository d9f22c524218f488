import { type Clock, HOUR } from '../domain/clock.ts'

/**
 * Tells how far the wall clock can be believed. What cannot be undone waits until wall and monotonic clock have
 * agreed for a while: a clock that was set wrong by mistake then costs nothing.
 */
export interface ClockGuard {
  /** To be called often. Milliseconds for which both clocks have agreed; 0 just after a start or a leap. */
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

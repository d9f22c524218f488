import { type Clock, HOUR } from '../domain/clock.ts'

/** Irreversible work waits until both clocks agree for a while: a wrongly set clock then deletes nothing. */
export interface ClockGuard {
  /** Milliseconds of agreement; 0 just after a start or a leap. Must be called often. */
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

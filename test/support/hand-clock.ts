import { type Clock, systemTimers } from '../../src/domain/clock.ts'

/** A clock that only a test advances. Its timers run by themselves. */
export interface HandClock extends Clock {
  /** Advances both clocks. */
  advance(milliseconds: number): void
  /** Sets the wall clock only. */
  leap(milliseconds: number): void
}

export function handClock(): HandClock {
  let wall = Date.UTC(2030, 0, 1)
  let monotonic = 1_000_000
  return {
    now: () => wall,
    monotonic: () => monotonic,
    timers: systemTimers,
    advance(milliseconds) {
      wall += milliseconds
      monotonic += milliseconds
    },
    leap(milliseconds) {
      wall += milliseconds
    },
  }
}

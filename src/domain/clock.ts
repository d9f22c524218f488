/** Time source, injected everywhere so that tests can set it. */
export interface Clock {
  /** Wall time, milliseconds since the epoch. May leap, either way. */
  now(): number
  /** Milliseconds since some fixed moment. Never leaps and never goes back. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** ISO 8601 in UTC with milliseconds and `Z`. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

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

/** The first moment whose year has five digits. */
const FIVE_DIGITS = Date.UTC(10_000, 0)
const TWO_DIGITS = digits(2)
const THREE_DIGITS = digits(3)
let lastDay = { day: Number.NaN, text: '' }

/**
 * ISO 8601 in UTC with milliseconds and `Z`. The day is remembered, because a page of a list has a hundred timestamps and
 * `Date` takes several times as long for one.
 */
export function timestamp(milliseconds: number): string {
  if (!(Number.isInteger(milliseconds) && milliseconds >= 0 && milliseconds < FIVE_DIGITS)) {
    return new Date(milliseconds).toISOString()
  }
  const day = Math.floor(milliseconds / DAY)
  if (day !== lastDay.day)
    lastDay = { day, text: new Date(day * DAY).toISOString().slice(0, 'YYYY-MM-DDT'.length) }
  const rest = milliseconds - day * DAY
  const hours = TWO_DIGITS[Math.floor(rest / HOUR)]
  const minutes = TWO_DIGITS[Math.floor(rest / MINUTE) % 60]
  const seconds = TWO_DIGITS[Math.floor(rest / SECOND) % 60]
  return `${lastDay.text}${hours}:${minutes}:${seconds}.${THREE_DIGITS[rest % SECOND]}Z`
}

/** All numbers of so many decimal digits, with leading zeros. */
function digits(count: number): string[] {
  return Array.from({ length: 10 ** count }, (_, number) => String(number).padStart(count, '0'))
}

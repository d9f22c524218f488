export interface Clock {
  /** Wall time, milliseconds since the epoch. May leap either way. */
  now(): number
  /** Milliseconds since a fixed moment. Never leaps nor goes back. */
  monotonic(): number
  readonly timers: Timers
}

/** With their own clock, which a test that sets `Clock` leaves alone. */
export interface Timers {
  /** Milliseconds since a fixed moment. */
  monotonic(): number
  /** Once. Cancelling later is harmless. */
  after(milliseconds: number, call: () => void): CancelTimer
}

export type CancelTimer = () => void

export const systemTimers: Timers = {
  monotonic: () => performance.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds)
    return () => clearTimeout(timer)
  },
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: systemTimers.monotonic,
  timers: systemTimers,
}

export function sleep(timers: Timers, milliseconds: number): Promise<void> {
  return new Promise((resolve) => timers.after(milliseconds, resolve))
}

export function repeat(timers: Timers, milliseconds: number, call: () => void): CancelTimer {
  let cancel = timers.after(milliseconds, next)
  function next(): void {
    cancel = timers.after(milliseconds, next)
    call()
  }
  return () => cancel()
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

const FIVE_DIGITS = Date.UTC(10_000, 0)
const TWO_DIGITS = digits(2)
const THREE_DIGITS = digits(3)
const beginnings = new Map<number, string>()
const MOST_BEGINNINGS = 1000

/**
 * ISO 8601 in UTC with milliseconds. Days are cached: a list has a hundred timestamps, and `Date` is several times
 * slower.
 */
export function timestamp(milliseconds: number): string {
  if (!(Number.isInteger(milliseconds) && milliseconds >= 0 && milliseconds < FIVE_DIGITS)) {
    return new Date(milliseconds).toISOString()
  }
  const day = Math.floor(milliseconds / DAY)
  const rest = milliseconds - day * DAY
  const hours = TWO_DIGITS[Math.floor(rest / HOUR)]
  const minutes = TWO_DIGITS[Math.floor(rest / MINUTE) % 60]
  const seconds = TWO_DIGITS[Math.floor(rest / SECOND) % 60]
  return `${beginnings.get(day) ?? rememberedBeginning(day)}${hours}:${minutes}:${seconds}.${THREE_DIGITS[rest % SECOND]}Z`
}

export const optionalTime = (time: number | null) => (time === null ? null : timestamp(time))

function rememberedBeginning(day: number): string {
  const text = new Date(day * DAY).toISOString().slice(0, 'YYYY-MM-DDT'.length)
  if (beginnings.size === MOST_BEGINNINGS) beginnings.clear()
  beginnings.set(day, text)
  return text
}

/** All numbers of that many digits, zero-padded. */
function digits(count: number): string[] {
  return Array.from({ length: 10 ** count }, (_, number) => String(number).padStart(count, '0'))
}

/** SQLite queries block the event loop, so batch work must yield. */

/** A longer step mostly waited, and a long pause would delay shutdown. */
const MAX_PAUSE = SECOND

export const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Pauses after the step for as long as it took, a second at most: half of the time is left to requests. The timers'
 * clock measures both, since a leap of a test's clock would prolong the pause.
 */
export async function withPause<T>(timers: Timers, step: () => Promise<T>): Promise<T> {
  const began = timers.monotonic()
  const result = await step()
  await sleep(timers, Math.min(timers.monotonic() - began, MAX_PAUSE))
  await yieldToEventLoop()
  return result
}

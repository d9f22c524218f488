/** One policy for the command line and the pages, without Node or DOM. */
import { HOUR, MINUTE, SECOND } from '../../domain/clock.ts'

export interface FailedAnswer {
  readonly status: number
  readonly code: string | null
  /** Seconds, from `Retry-After`. */
  readonly retryAfter: number | null
}

/** Milliseconds without progress, and of the longest wait that a server may ask for. */
export interface RetryPatience {
  readonly within: number
  readonly longestWait: number
}

/** A user waits at the terminal. */
export const INTERACTIVE: RetryPatience = { within: 10 * SECOND, longestWait: MINUTE }

/** A server may restart meanwhile, or an hourly limit be used up. */
export const TRANSFER: RetryPatience = { within: 5 * MINUTE, longestWait: 2 * HOUR }

const FIRST_PAUSE = SECOND / 2
const LONGEST_PAUSE = 30 * SECOND

/** Milliseconds: doubles with each failure, with jitter between half and all. `chance`: from 0 to 1. */
export function backoff(failures: number, chance: number): number {
  const most = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures)
  return most * (0.5 + chance / 2)
}

/** Milliseconds: the server's seconds, and up to one more as jitter. */
export function requestedPause(seconds: number, chance: number): number {
  return (seconds + chance) * SECOND
}

/** Restarts of an upload that the server discards: a store may refuse it for good. */
export const MOST_ANEW = 2

/** Milliseconds. */
export function pauseBeforeAnew(times: number): number {
  return 5 * SECOND * 4 ** times
}

/** Timeouts, locks, limits and outages, from any server. */
const PASSING: readonly number[] = [408, 423, 425, 429, 500, 502, 503, 504]

/** Answers of proxies and gateways for a server that they cannot reach. */
const UNREACHED: readonly number[] = [404, 409, 410, 421]

/**
 * `isKnownServer`: Holdfast has answered here before, so an answer without one of its codes is a proxy's and
 * temporary; otherwise the address may be wrong.
 */
export function mayPass(answer: FailedAnswer, isKnownServer: boolean): boolean {
  const { status, code, retryAfter } = answer
  if (retryAfter !== null || PASSING.includes(status)) return true
  // Holdfast answers 400 with this code to a body that came too slowly.
  if (code === 'REQUEST_TIMEOUT') return true
  if (!isKnownServer) return false
  if (status < 400 || status >= 500) return true
  return code === null ? UNREACHED.includes(status) : status === 409
}

/** Whether a proxy refused the body as too large; Holdfast itself names a code. */
export function refusesBody({ status, code }: FailedAnswer): boolean {
  return status === 413 && code === null
}

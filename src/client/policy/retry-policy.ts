/**
 * Which failed requests are sent again, and when: one policy for the command line and the pages, free of Node and the
 * DOM.
 */
import { HOUR, MINUTE, SECOND } from '../../domain/clock.ts'

/** An answer that is no success, by the server or by whatever stands before it. */
export interface FailedAnswer {
  readonly status: number
  /** Holdfast's own error code; null where somebody else answered. */
  readonly code: string | null
  /** Seconds, as `Retry-After` says; null where it does not. */
  readonly retryAfter: number | null
}

/** How long to go on while nothing moves, and how long a server may ask to wait; milliseconds. */
export interface RetryPatience {
  readonly within: number
  readonly longestWait: number
}

/** For a question that a person at a terminal waits for. */
export const INTERACTIVE: RetryPatience = { within: 10 * SECOND, longestWait: MINUTE }

/** For bytes that a command sends: a server may be restarted meanwhile, and an hour's limit be used up. */
export const TRANSFER: RetryPatience = { within: 5 * MINUTE, longestWait: 2 * HOUR }

const FIRST_PAUSE = SECOND / 2
const LONGEST_PAUSE = 30 * SECOND

/**
 * Milliseconds before the next try after so many failures in a row: doubled each time, and by chance between half of
 * that and all of it, so that clients that failed together do not come back together. `chance`: from 0 to 1.
 */
export function backoff(failures: number, chance: number): number {
  const most = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures)
  return most * (0.5 + chance / 2)
}

/** Milliseconds to wait where a server asks for so many seconds: up to one more, so that not all come at once. */
export function requestedPause(seconds: number, chance: number): number {
  return (seconds + chance) * SECOND
}

/** How often an upload begins anew that the server gives up: a store may refuse it for good, however often it is sent. */
export const MOST_ANEW = 2

/** Milliseconds before an upload begins anew, once that was done so many times. */
export function pauseBeforeAnew(times: number): number {
  return 5 * SECOND * 4 ** times
}

/** Timeouts, locks, limits and outages, whoever says so. */
const PASSING: readonly number[] = [408, 423, 425, 429, 500, 502, 503, 504]

/** What proxies and gateways answer for a server that they cannot reach just now. */
const UNREACHED: readonly number[] = [404, 409, 410, 421]

/**
 * Whether the same request may succeed later. `isKnownServer`: Holdfast has answered at this address before, so that
 * whoever answers without a code of ours stands in between for a while; otherwise the address may be wrong.
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

/** Whether something before the server took the body for too large; the server itself names a code. */
export function refusesBody({ status, code }: FailedAnswer): boolean {
  return status === 413 && code === null
}

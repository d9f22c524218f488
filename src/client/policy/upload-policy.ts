import { HOUR, MINUTE, SECOND } from '../../domain/clock.ts'

/** Bytes per request: one policy for the command line and the pages, without Node or DOM. */

const MIB = 1024 * 1024

/** Below the usual limit of proxies (100 MB). */
export const FIRST_CHUNK = 64 * MIB

/** Larger chunks gain nothing. */
export const LARGEST_CHUNK = 1024 * MIB

/** A quarter of nginx's default limit. */
export const SMALLEST_CHUNK = MIB / 4

/** Target duration: each request ends with a sync, and may be lost whole when a proxy is cut. */
const SHORT = 2 * SECOND

/** Failed requests in a row after which their size is taken for the reason. */
const STUCK = 3

export interface ChunkState {
  readonly bytes: number
  readonly largest: number
}

export function afterArrival(size: ChunkState, bytes: number, milliseconds: number): ChunkState {
  if (bytes !== size.bytes || milliseconds >= SHORT) return size
  const faster = Math.floor((size.bytes * SHORT) / Math.max(1, milliseconds))
  return { ...size, bytes: Math.min(size.largest, faster) }
}

/** Judged by a request of `before` bytes that took so long. */
export function isSoonOver(bytes: number, before: number, milliseconds: number): boolean {
  return bytes * milliseconds <= before * SHORT
}

/** Halves the size; null when smaller ones are no use. */
export function afterRefusal(size: ChunkState, bytes: number): ChunkState | null {
  const smaller = Math.max(SMALLEST_CHUNK, Math.floor(bytes / 2))
  if (smaller >= bytes) return null
  if (smaller >= size.largest) return size
  return { bytes: Math.min(size.bytes, smaller), largest: smaller }
}

/** Requests in a row of one upload from one offset. */
export interface StuckState {
  readonly offset: number
  readonly times: number
}

export const NOT_STUCK: StuckState = { offset: -1, times: 0 }

export function afterBegin(stuckState: StuckState, offset: number): StuckState {
  return { offset, times: offset === stuckState.offset ? stuckState.times + 1 : 0 }
}

/** Whether bodies may be too large: some proxies close the connection instead of answering 413. */
export function isStuck({ times }: StuckState): boolean {
  return times >= STUCK
}

/**
 * A file is stored with its last bytes, so these are sent apart, from memory, after all others have arrived
 * and the file was checked for changes again. One policy for the command line and the pages, without Node or
 * DOM.
 */

const KIB = 1024

/** Bytes held back until the file is known to be unchanged. */
export const HELD_BACK = 64 * KIB
/** A rest of up to so many bytes is held back whole, which saves a request. */
const HELD_WHOLE = 8 * 1024 * KIB

export interface NextRequest {
  readonly length: number
  readonly isLast: boolean
}

export function nextRequest(left: number, most: number): NextRequest {
  if (left <= Math.min(HELD_WHOLE, most)) return { length: left, isLast: true }
  return { length: Math.min(most, left - Math.min(HELD_BACK, most)), isLast: false }
}

/** For smaller files the overhead of each part exceeds the gain. */
const SMALLEST = 64 * MIB

/** Shared by all files of a command. */
export const CONNECTIONS = 4

/** Two per connection, so that a slow one delays the others little. */
const FEWEST_PARTS = 2 * CONNECTIONS
/** Larger files have a part per request, so that a concurrent reader is close behind. */
const MOST_PARTS = 8 * CONNECTIONS

/** Milliseconds of a round trip from which one connection may be slower than the network. */
const LONG = 30

export function mayGoInParts(size: number, connections: number): boolean {
  return size >= SMALLEST && connections > 1
}

export function isHighLatency(roundTrip: number): boolean {
  return roundTrip > LONG
}

export function connectionsEach(files: number): number {
  return Math.max(1, Math.floor(CONNECTIONS / Math.max(1, files)))
}

/** In order; they differ by a byte at most. */
export function partLengths(size: number): number[] {
  // As many on each connection, so that they end at about one time.
  const requests = CONNECTIONS * Math.ceil(size / FIRST_CHUNK / CONNECTIONS)
  const count = Math.min(MOST_PARTS, Math.max(FEWEST_PARTS, requests))
  const longer = size % count
  return Array.from({ length: count }, (_, number) => Math.floor(size / count) + (number < longer ? 1 : 0))
}

export function uploadMetadata(metadata: Readonly<Record<string, string>>): string {
  const base64 = (text: string) => btoa(String.fromCodePoint(...new TextEncoder().encode(text)))
  return Object.entries(metadata)
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(',')
}

/** One policy for the command line and the pages, without Node or DOM. */

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

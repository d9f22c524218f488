/** When a file goes over several connections, and in which parts. */
import { FIRST_CHUNK } from './chunk-policy.ts'

const MIB = 1024 * 1024

/** Of a smaller file the beginning and the end of each part would cost what is gained. */
const SMALLEST = 64 * MIB

/** Of all files of a command together: what browsers open to one server at most is six. */
export const CONNECTIONS = 4

/** Two for each connection, so that a slow one does not keep the others waiting for long. */
const FEWEST_PARTS = 2 * CONNECTIONS
/**
 * Of a larger file as many as there are requests, which wait for each other anyway: so whoever reads it meanwhile is close
 * behind.
 */
const MOST_PARTS = 8 * CONNECTIONS

/** Milliseconds of a round trip from which on one connection may be slower than the line. */
const LONG = 30

/** Answers of which the quickest counts: a busy server answers one late, but hardly each. */
export const QUESTIONS = 3

export function mayGoInParts(size: number, connections: number): boolean {
  return size >= SMALLEST && connections > 1
}

export function isHighLatency(roundTrip: number): boolean {
  return roundTrip > LONG
}

/** Connections of each file when so many are sent at once. */
export function connectionsEach(files: number): number {
  return Math.max(1, Math.floor(CONNECTIONS / Math.max(1, files)))
}

/** The lengths of the parts of such a file in their order, which differ by a byte at most. */
export function partLengths(size: number): number[] {
  // As many on each connection, so that all of them end at about the same time.
  const requests = CONNECTIONS * Math.ceil(size / FIRST_CHUNK / CONNECTIONS)
  const count = Math.min(MOST_PARTS, Math.max(FEWEST_PARTS, requests))
  const longer = size % count
  return Array.from({ length: count }, (_, number) => Math.floor(size / count) + (number < longer ? 1 : 0))
}

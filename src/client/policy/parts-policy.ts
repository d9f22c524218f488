import { FIRST_CHUNK } from './chunk-policy.ts'

const MIB = 1024 * 1024

/** For smaller files the overhead of each part exceeds the gain. */
const SMALLEST = 64 * MIB

/** Shared by all files of a command: browsers open six to one server at most. */
export const CONNECTIONS = 4

/** Two per connection, so that a slow one delays the others little. */
const FEWEST_PARTS = 2 * CONNECTIONS
/** Larger files have a part per request, so that a concurrent reader is close behind. */
const MOST_PARTS = 8 * CONNECTIONS

/** Milliseconds of a round trip from which one connection may be slower than the network. */
const LONG = 30

/** The quickest counts: a busy server answers one late, but hardly each. */
export const QUESTIONS = 3

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

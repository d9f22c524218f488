/** Bytes per request: one policy for the command line and the pages, without Node or DOM. */
import { SECOND } from '../../domain/clock.ts'

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

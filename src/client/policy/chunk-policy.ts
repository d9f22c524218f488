/** How many bytes go in one request: one policy for the command line and the pages, free of Node and the DOM. */
import { SECOND } from '../../domain/clock.ts'

const MIB = 1024 * 1024

/** Below what proxies that pass on large bodies usually allow (100 MB). */
export const FIRST_CHUNK = 64 * MIB

/** Beyond this nothing is gained. */
export const LARGEST_CHUNK = 1024 * MIB

/** A quarter of what nginx allows when nobody has told it otherwise. */
export const SMALLEST_CHUNK = MIB / 4

/** A request should take about so long: each ends with a sync, and may be lost whole when a proxy is cut. */
const SHORT = 2 * SECOND

/** Requests in a row that got nothing across, after which their size is taken for the reason. */
const STUCK = 3

/** Chunk sizes learnt from requests to a server; a new value replaces it. */
export interface ChunkState {
  /** Bytes of the next request. */
  readonly bytes: number
  /** Never exceeded. */
  readonly largest: number
}

/** After a request of so many bytes arrived within so many milliseconds: on a fast line more goes at once. */
export function afterArrival(size: ChunkState, bytes: number, milliseconds: number): ChunkState {
  if (bytes !== size.bytes || milliseconds >= SHORT) return size
  const faster = Math.floor((size.bytes * SHORT) / Math.max(1, milliseconds))
  return { ...size, bytes: Math.min(size.largest, faster) }
}

/** Whether a request of so many bytes should be over soon, after one of `before` bytes that took so long. */
export function isSoonOver(bytes: number, before: number, milliseconds: number): boolean {
  return bytes * milliseconds <= before * SHORT
}

/** After a body of so many bytes was refused: half of that from now on; null when less is no use. */
export function afterRefusal(size: ChunkState, bytes: number): ChunkState | null {
  const smaller = Math.max(SMALLEST_CHUNK, Math.floor(bytes / 2))
  if (smaller >= bytes) return null
  if (smaller >= size.largest) return size
  return { bytes: Math.min(size.bytes, smaller), largest: smaller }
}

/** How often in a row requests of one upload began at the same offset. */
export interface StuckState {
  readonly offset: number
  readonly times: number
}

export const NOT_STUCK: StuckState = { offset: -1, times: 0 }

/** A request begins at an offset. */
export function afterBegin(stuckState: StuckState, offset: number): StuckState {
  return { offset, times: offset === stuckState.offset ? stuckState.times + 1 : 0 }
}

/** Whether bodies may be too large: some proxies close the connection instead of answering 413. */
export function isStuck({ times }: StuckState): boolean {
  return times >= STUCK
}

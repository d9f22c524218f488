import { SECOND } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import { AnswerError, ClientError } from './failure.ts'

const MIB = 1024 * 1024

/** Below what proxies that pass on large bodies usually allow (100 MB). */
const FIRST_CHUNK = 64 * MIB

/** Beyond this there is nothing to be won. */
const LARGEST_CHUNK = 1024 * MIB

/** What nginx allows when nobody has told it otherwise. */
export const SMALLEST_CHUNK = MIB

/** What goes in one request should take so long: each ends with a sync, and may be lost whole when a proxy is cut. */
const SHORT = 2 * SECOND

/** How much is sent in one request; what one upload learns about the way to the server counts for all. */
export interface ChunkSize {
  current(): number
  /** A request of so many bytes arrived after so many milliseconds: on a fast line more goes at once. */
  arrived(bytes: number, milliseconds: number): void
  /** Something before the server refused a body of so many bytes. Throws ClientError when less is no use. */
  refused(bytes: number): void
}

/** `wanted`: the size that somebody asked for, which is then not exceeded; null for one that fits the line. */
export function createChunkSize(wanted: number | null, say: (line: string) => void): ChunkSize {
  let size = wanted ?? FIRST_CHUNK
  let largest = wanted ?? LARGEST_CHUNK
  return {
    current: () => size,
    arrived(bytes, milliseconds) {
      if (bytes !== size || milliseconds >= SHORT) return
      size = Math.min(largest, Math.floor((size * SHORT) / Math.max(1, milliseconds)))
    },
    refused(bytes) {
      const smaller = Math.max(SMALLEST_CHUNK, Math.floor(bytes / 2))
      if (smaller >= bytes) {
        throw new ClientError(
          `a proxy before the server refuses requests of ${formatSize(bytes)} (413); raise its limit, in nginx client_max_body_size.`,
        )
      }
      if (smaller >= largest) return
      size = Math.min(size, smaller)
      largest = smaller
      say(`A proxy refuses requests of ${formatSize(bytes)} (413): sending ${formatSize(size)} at a time.`)
    },
  }
}

/** Whether something that stands before the server took the body for too large; the server itself names a code. */
export function isProxyLimit(error: unknown): boolean {
  return error instanceof AnswerError && error.status === 413 && error.code === null
}

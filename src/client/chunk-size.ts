import { formatSize } from '../domain/sizes.ts'
import { AnswerError, ClientError } from './failure.ts'

/** Below what proxies that pass on large bodies usually allow (100 MB), and large enough to be fast. */
export const DEFAULT_CHUNK = 64 * 1024 * 1024

/** What nginx allows when nobody has told it otherwise. */
export const SMALLEST_CHUNK = 1024 * 1024

/** How much is sent in one request; what one upload learns about a proxy counts for all. */
export interface ChunkSize {
  current(): number
  /** Something before the server refused a body of so many bytes. Throws ClientError when less is no use. */
  refused(bytes: number): void
}

export function createChunkSize(wanted: number, say: (line: string) => void): ChunkSize {
  let size = Math.max(1, wanted)
  return {
    current: () => size,
    refused(bytes) {
      const smaller = Math.max(SMALLEST_CHUNK, Math.floor(bytes / 2))
      if (smaller >= bytes) {
        throw new ClientError(
          `a proxy before the server refuses requests of ${formatSize(bytes)} (413); raise its limit, in nginx client_max_body_size.`,
        )
      }
      if (smaller >= size) return
      size = smaller
      say(`A proxy refuses requests of ${formatSize(bytes)} (413): sending ${formatSize(size)} at a time.`)
    },
  }
}

/** Whether something that stands before the server took the body for too large; the server itself names a code. */
export function isProxyLimit(error: unknown): boolean {
  return error instanceof AnswerError && error.status === 413 && error.code === null
}

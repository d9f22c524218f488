import { formatSize } from '../domain/sizes.ts'
import { AnswerError, ClientError } from './failure.ts'
import {
  afterArrival,
  afterRefusal,
  type ChunkState,
  FIRST_CHUNK,
  isSoonOver,
  LARGEST_CHUNK,
} from './policy/chunk-policy.ts'
import { refusesBody } from './policy/retry-policy.ts'

/** How much is sent in one request; what one upload learns about the way to the server counts for all. */
export interface ChunkSize {
  current(): number
  /** Whether a request of so many bytes should be over in two seconds, by the one before, which went well. */
  isSoonOver(bytes: number): boolean
  /** A request of so many bytes arrived after so many milliseconds. */
  arrived(bytes: number, milliseconds: number): void
  /** A request came to nothing, or not to its end. */
  failed(): void
  /** Something before the server refused a body of so many bytes. Throws ClientError when less is no use. */
  refused(bytes: number): void
}

/** `wanted`: the size that somebody asked for, which is then not exceeded; null for one that fits the line. */
export function createChunkSize(wanted: number | null, say: (line: string) => void): ChunkSize {
  let state: ChunkState = { bytes: wanted ?? FIRST_CHUNK, largest: wanted ?? LARGEST_CHUNK }
  let last: { readonly bytes: number; readonly milliseconds: number } | null = null
  return {
    current: () => state.bytes,
    isSoonOver: (bytes) => last !== null && isSoonOver(bytes, last.bytes, last.milliseconds),
    arrived(bytes, milliseconds) {
      last = { bytes, milliseconds }
      state = afterArrival(state, bytes, milliseconds)
    },
    failed() {
      last = null
    },
    refused(bytes) {
      const smaller = afterRefusal(state, bytes)
      if (smaller === null) {
        throw new ClientError(
          `a proxy before the server refuses requests of ${formatSize(bytes)} (413); raise its limit, in nginx client_max_body_size.`,
        )
      }
      if (smaller === state) return
      state = smaller
      say(
        `A proxy refuses requests of ${formatSize(bytes)} (413): sending ${formatSize(state.bytes)} at a time.`,
      )
    },
  }
}

/** Whether a request failed because something before the server took its body for too large. */
export function isProxyLimit(error: unknown): boolean {
  return error instanceof AnswerError && refusesBody(error)
}

import { formatSize } from '../domain/sizes.ts'
import { AnswerError, ClientError } from './failure.ts'
import {
  afterArrival,
  afterRefusal,
  type ChunkState,
  FIRST_CHUNK,
  isSoonOver,
  LARGEST_CHUNK,
  refusesBody,
} from './policy/upload-policy.ts'

/** Request size; all uploads of a command share what one learns about the connection. */
export interface ChunkSize {
  current(): number
  /** Whether a request of that size should take under two seconds, judging by the last success. */
  isSoonOver(bytes: number): boolean
  arrived(bytes: number, milliseconds: number): void
  failed(): void
  /** A proxy refused a body of that size. Throws ClientError when smaller ones are no use. */
  refused(bytes: number): void
}

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

export function isProxyLimit(error: unknown): boolean {
  return error instanceof AnswerError && refusesBody(error)
}

import { wholeNumber } from '../../domain/whole-number.ts'

/** Buffer size for each read, where the reader provides the memory. */
const BUFFER_SIZE = 512 * 1024

/** Iterates over a body's chunks. */
export interface BodyChunks {
  /** null at the end. A chunk is valid until `next` has been called twice more. */
  next(): Promise<Uint8Array | null>
  /** Cancels the body. */
  cancel(): void
}

/** Chunks that come from where bytes are stored, without a stream between. */
export interface SourceChunks extends BodyChunks {
  /** Gives the memory of the chunks to further bodies. Nothing may hold a chunk any more. */
  release(): void
}

export function bodyChunks(body: ReadableStream<Uint8Array>): BodyChunks {
  const filled = readerThatFills(body)
  return filled === null ? givenChunks(body) : filledChunks(filled)
}

/** A BYOB reader; null for a stream without support for it, which only the exception tells. */
function readerThatFills(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: 'byob' })
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

function givenChunks(body: ReadableStream<Uint8Array>): BodyChunks {
  const reader = body.getReader()
  return {
    next: async () => (await reader.read()).value ?? null,
    cancel: () => letGo(reader),
  }
}

/** Double buffering: one buffer is filled while the other is being used. */
function filledChunks(reader: ReadableStreamBYOBReader): BodyChunks {
  let last: ArrayBuffer | null = null
  let free: ArrayBuffer | null = null
  return {
    async next() {
      const { done, value } = await reader.read(new Uint8Array(free ?? new ArrayBuffer(BUFFER_SIZE)))
      if (done) return null
      free = last
      last = value.buffer
      return value
    },
    cancel: () => letGo(reader),
  }
}

function letGo(reader: ReadableStreamGenericReader): void {
  // Errors after the cancellation are irrelevant.
  reader.cancel().catch(() => {})
}

/** The length that the headers promise; null where they promise none. */
export function lengthOf({ headers }: Pick<Response, 'headers'>): number | null {
  return wholeNumber(headers.get('content-length'))
}

/** Throws for a body that ended after fewer bytes than the headers promise, or after more. */
export function assertLength(bytes: number, length: number): void {
  if (bytes !== length) throw new Error(`a body of ${length} bytes ended after ${bytes}`)
}

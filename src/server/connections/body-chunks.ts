import { wholeNumber } from '../../domain/whole-number.ts'

/** Per read, where the reader provides memory. */
const BUFFER_SIZE = 512 * 1024

export interface BodyChunks {
  /** Null at the end. A chunk is valid until `next` was called twice more. */
  next(): Promise<Uint8Array | null>
  cancel(): void
}

export interface SourceChunks extends BodyChunks {
  /** Returns the chunks' memory. No chunk may be in use. */
  release(): void
}

export function bodyChunks(body: ReadableStream<Uint8Array>): BodyChunks {
  const filled = readerThatFills(body)
  return filled === null ? givenChunks(body) : filledChunks(filled)
}

/** A BYOB reader; null for a stream without support, which only the exception shows. */
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
  reader.cancel().catch(() => {})
}

export function lengthOf({ headers }: Pick<Response, 'headers'>): number | null {
  return wholeNumber(headers.get('content-length'))
}

/** Throws for a body that does not match its Content-Length. */
export function assertLength(bytes: number, length: number): void {
  if (bytes !== length) throw new Error(`a body of ${length} bytes ended after ${bytes}`)
}

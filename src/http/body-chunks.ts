/** What is asked for of a body at a time, where it is read into memory that its reader brings. */
const ROOM = 512 * 1024

/** A body, chunk by chunk. */
export interface BodyChunks {
  /** null at the end. The chunk is good until `next` has been called twice more. */
  next(): Promise<Uint8Array | null>
  /** Lets go of the body. */
  cancel(): void
}

export function bodyChunks(body: ReadableStream<Uint8Array>): BodyChunks {
  const filled = readerThatFills(body)
  return filled === null ? givenChunks(body) : filledChunks(filled)
}

/** null where the body brings memory of its own, of which nothing but the failure of the attempt tells. */
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

/** Two pieces of memory take turns: one is filled while the other is on its way. */
function filledChunks(reader: ReadableStreamBYOBReader): BodyChunks {
  let last: ArrayBuffer | null = null
  let free: ArrayBuffer | null = null
  return {
    async next() {
      const { done, value } = await reader.read(new Uint8Array(free ?? new ArrayBuffer(ROOM)))
      if (done) return null
      free = last
      last = value.buffer
      return value
    },
    cancel: () => letGo(reader),
  }
}

function letGo(reader: ReadableStreamGenericReader): void {
  // What it fails with by now is of no interest to anybody.
  reader.cancel().catch(() => {})
}

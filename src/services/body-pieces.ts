import { type BlobBody, StoreFailure } from '../blobs/blob-store.ts'

/** Bytes that come one piece after another. */
export interface Pieces {
  /** null at the end. */
  next(): Promise<Uint8Array | null>
  /** Lets go of everything; nobody asks for more. */
  cancel(): void
}

/** Bytes of a blob that are read at a time. */
const PIECE = 1024 * 1024

/** All of the body, which is `length` bytes. Throws StoreFailure when it is not. */
export function bodyPieces(body: BlobBody, length: number): Pieces {
  return body instanceof Blob ? blobPieces(body, length) : streamPieces(body, length)
}

/** The body at once. Throws StoreFailure when it is not `length` bytes. */
export async function wholeBody(body: BlobBody, length: number): Promise<Uint8Array> {
  const bytes = await (body instanceof Blob ? body.bytes() : new Response(body).bytes())
  if (bytes.length !== length) throw otherLength(bytes.length, length)
  return bytes
}

/** The next piece is read while the one before it is on its way. */
function blobPieces(blob: Blob, length: number): Pieces {
  let at = 0
  let next = begin()

  function begin(): Promise<Uint8Array> | null {
    if (at === length) return null
    const size = Math.min(PIECE, length - at)
    const piece = wholeBody(blob.slice(at, at + size), size)
    // Whoever asks for it hears of its failure; after a cancel nobody does.
    piece.catch(() => {})
    at += size
    return piece
  }

  return {
    async next() {
      const piece = next
      next = piece === null ? null : begin()
      return piece
    },
    cancel() {
      next = null
    },
  }
}

function streamPieces(stream: ReadableStream<Uint8Array>, length: number): Pieces {
  const reader = stream.getReader()
  let received = 0
  return {
    async next() {
      const { done, value } = await reader.read()
      received += value?.length ?? 0
      if (received > length || (done && received < length)) throw otherLength(received, length)
      return value ?? null
    },
    cancel() {
      // What it fails with by now is of no interest to anybody.
      reader.cancel().catch(() => {})
    },
  }
}

function otherLength(received: number, length: number): StoreFailure {
  const cause = new Error(`${received} bytes of a content came, ${length} were asked for`)
  return new StoreFailure('broken', { cause })
}

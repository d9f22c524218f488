import { chunksUnlessAborted } from '../domain/abort.ts'

const SLICE = 256 * 1024
const LONGEST_TEXT = 8 * 1024 * 1024

export interface Outgoing {
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  /** For Content-Length, which a stream does not imply; null where the body does. */
  readonly length: number | null
}

/** Bun copies a body passed in one piece, so a large one is a stream of slices. `moved` is called for each slice. */
export function outgoing(bytes: Uint8Array<ArrayBuffer>, moved: () => void): Outgoing {
  if (!isStreamed(bytes)) return { body: bytes, length: null }
  let at = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        moved()
        controller.enqueue(bytes.subarray(at, at + SLICE))
        at += SLICE
        if (at >= bytes.byteLength) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { body, length: bytes.byteLength }
}

export function isStreamed(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.byteLength > SLICE
}

/** `what` names the request, for the log; `moved` is called with each chunk. */
export async function readAnswerText(
  response: Response,
  what: string,
  signal: AbortSignal,
  moved: () => void,
): Promise<string> {
  // Most answers are empty, and opening their streams would cost more than the rest of reading them.
  if (response.headers.get('Content-Length') === '0' || response.body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunksUnlessAborted(signal, response.body)) {
    moved()
    text += decoder.decode(chunk, { stream: true })
    if (text.length > LONGEST_TEXT) throw new Error(`${what} was answered at too great length`)
  }
  return text + decoder.decode()
}

/** The bodies of requests, and of the answers that are read as a whole. */
import { chunksUnlessAborted } from '../domain/abort.ts'
import type { Watchdog } from './watchdog.ts'

/** What is sent at a time of a large body. */
const SLICE = 256 * 1024
/** No answer that is read as a whole has any business being longer. */
const LONGEST_TEXT = 8 * 1024 * 1024

export interface Outgoing {
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  /** Told as a header, as a stream does not tell it; null where the body does. */
  readonly length: number | null
}

/**
 * Bun copies a body that it gets in one piece, so a large one is given to it slice by slice, as the connection takes
 * them; `moved` is called whenever it wants more.
 */
export function outgoing(bytes: Uint8Array<ArrayBuffer>, moved: () => void): Outgoing {
  if (bytes.byteLength <= SLICE) return { body: bytes, length: null }
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

/** `what` names the request, for the log. */
export async function readText(response: Response, what: string, dog: Watchdog): Promise<string> {
  if (response.body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunksUnlessAborted(dog.signal, response.body)) {
    dog.again()
    text += decoder.decode(chunk, { stream: true })
    if (text.length > LONGEST_TEXT) throw new Error(`${what} was answered at too great length`)
  }
  return text + decoder.decode()
}

import type { ServerResponse } from 'node:http'
import type { BodyChunks } from './body-chunks.ts'

/** Sends the first chunk and all further ones at the speed of the receiver. `sent` is called for each. */
export async function sendBody(
  first: Uint8Array | null,
  chunks: Pick<BodyChunks, 'next'>,
  outgoing: ServerResponse,
  gone: AbortSignal,
  sent: (bytes: number) => void,
): Promise<void> {
  let coming = Promise.resolve(first)
  for (;;) {
    const chunk = await coming
    if (chunk === null || gone.aborted) break
    // The next chunk is read while this one is being sent.
    coming = chunks.next()
    // Avoids an unhandled rejection: the await reports the failure, unless the receiver has gone.
    coming.catch(() => {})
    sent(chunk.byteLength)
    // Waits for the buffer to drain rather than copying unsent chunks.
    if (!outgoing.write(chunk)) await drained(outgoing, gone)
  }
}

function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    if (gone.aborted) return resolve()
    outgoing.once('drain', done)
    gone.addEventListener('abort', done, { once: true })
  })
}

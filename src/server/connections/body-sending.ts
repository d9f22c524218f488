import type { ServerResponse } from 'node:http'
import type { BodyChunks } from './body-chunks.ts'

/** At the receiver's speed. `sent` is called per chunk. */
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
    coming = chunks.next()
    // The await reports the failure, unless the receiver has gone.
    coming.catch(() => {})
    sent(chunk.byteLength)
    // Rather than copying unsent chunks.
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

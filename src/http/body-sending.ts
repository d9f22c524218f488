import type { ServerResponse } from 'node:http'
import type { BodyChunks } from './body-chunks.ts'

/** Sends the first chunk and those that come, as fast as the other end takes them. `sent` is told of each. */
export async function sendBody(
  first: Uint8Array | null,
  chunks: BodyChunks,
  outgoing: ServerResponse,
  gone: AbortSignal,
  sent: (bytes: number) => void,
): Promise<void> {
  let coming = Promise.resolve(first)
  for (;;) {
    const chunk = await coming
    if (chunk === null || gone.aborted) break
    // Read while this one is on its way.
    coming = chunks.next()
    // Whoever waits for it hears of its failure; when the other end has gone nobody does.
    coming.catch(() => {})
    sent(chunk.byteLength)
    // What is not taken at once is held, not copied, until it is drained.
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

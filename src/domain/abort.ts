/**
 * What the work gives, or fails with the signal's reason as soon as it is aborted. A runtime does not always end what it
 * was told to abort, and whoever waits for a connection must not wait for ever.
 */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** The chunks of a stream, each of them as `unlessAborted` gives it. Lets go of the stream when it is not read to its end. */
export async function* chunksUnlessAborted(
  signal: AbortSignal,
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await unlessAborted(signal, reader.read())
      if (done) return
      yield value
    }
  } finally {
    // Its end may never be told either.
    reader.cancel().catch(() => {})
  }
}

/** Whether the work ends within so many milliseconds; after them it goes on, and nobody waits for it. */
export async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const patience = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => patience.resolve(false), milliseconds)
  try {
    return await Promise.race([work.then(() => true), patience.promise])
  } finally {
    clearTimeout(timer)
  }
}

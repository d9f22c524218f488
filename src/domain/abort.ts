/**
 * Resolves like the work, or rejects with the signal's reason as soon as it is aborted. Bun does not settle
 * every operation that it was told to abort, and nobody must wait for such a one for ever.
 */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * The chunks of a stream, each awaited with `unlessAborted`. Cancels the stream when it is not read to its
 * end.
 */
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
    // Not awaited, because the cancellation may never settle either.
    reader.cancel().catch(() => {})
  }
}

/**
 * Whether the work ends within so many milliseconds. Work that does not continues, but is no longer awaited.
 */
export async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const patience = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => patience.resolve(false), milliseconds)
  try {
    return await Promise.race([work.then(() => true), patience.promise])
  } finally {
    clearTimeout(timer)
  }
}

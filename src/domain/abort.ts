/** Rejects with the signal's reason even if the work never settles: Bun does not settle every aborted operation. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

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
    // Not awaited: it may never settle.
    reader.cancel().catch(() => {})
  }
}

/** Work that takes longer continues without being awaited. */
export async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const patience = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => patience.resolve(false), milliseconds)
  try {
    return await Promise.race([work.then(() => true), patience.promise])
  } finally {
    clearTimeout(timer)
  }
}

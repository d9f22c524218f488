/**
 * Asks a worker one question. Null when it fails or takes longer than `patience` milliseconds: text of strangers can be
 * made to keep any parser busy for ever, and there it troubles nobody.
 */
export function askWorker(address: string, question: unknown, patience: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const worker = new Worker(address, { type: 'module' })
  const timer = setTimeout(resolve, patience, null)
  worker.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    resolve(typeof data === 'string' ? data : null)
  })
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    resolve(null)
  })
  worker.postMessage(question)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.terminate()
  })
}

import { DetailedError, Upload, type UploadOptions } from 'tus-js-client'
import { MINUTE } from '../../src/domain/clock.ts'
import { answerOf, RequestFailure } from './answers.ts'

/** No byte has gone off for so long: the connection is taken for dead. Milliseconds. */
const QUIET = MINUTE

export interface FileSending {
  /** The path of the upload. */
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  /** Bytes of the next request; asked before each. */
  readonly chunkSize: () => number
  readonly signal: AbortSignal
  readonly onSent: (bytes: number) => void
}

/**
 * Sends what the server has not got of a file, and resolves when it has all of it, or `signal` was aborted. Throws
 * RequestFailure at the first request that fails: when to try again is decided for all uploads together.
 */
export async function sendLocalFile(file: Blob, sending: FileSending): Promise<void> {
  const { address, headers, chunkSize, signal, onSent } = sending
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const lost = () => reject(new RequestFailure(null))
  const stopped = () => resolve()
  let isOver = signal.aborted
  let timer = setTimeout(lost, QUIET)
  const upload = new Upload(file, {
    uploadUrl: address,
    headers: { ...headers },
    fileReader: chunkReader(chunkSize),
    storeFingerprintForResuming: false,
    retryDelays: null,
    onProgress(bytes) {
      if (isOver) return
      clearTimeout(timer)
      timer = setTimeout(lost, QUIET)
      onSent(bytes)
    },
    onBeforeRequest() {
      // abort() ends a request under way, and no other: one that is being prepared would still go off.
      if (isOver) throw new RequestFailure(null)
    },
    onSuccess: stopped,
    onError: (error) => reject(failureOf(error)),
  })
  signal.addEventListener('abort', stopped)
  // Otherwise what is under way would be noticed to be lost only much later.
  addEventListener('offline', lost)
  try {
    if (isOver) return
    upload.start()
    await promise
  } finally {
    isOver = true
    clearTimeout(timer)
    signal.removeEventListener('abort', stopped)
    removeEventListener('offline', lost)
    await upload.abort()
  }
}

function failureOf(error: Error | DetailedError): RequestFailure {
  const response = error instanceof DetailedError ? error.originalResponse : null
  // A status of success is no tus: something else has answered.
  if (response === null || response.getStatus() < 300) return new RequestFailure(null)
  const retryAfter = response.getHeader('retry-after') ?? null
  return new RequestFailure(answerOf(response.getStatus(), response.getBody(), retryAfter))
}

/**
 * Hands a file to tus-js-client in pieces of the present size. Its own chunkSize is fixed for an upload, which goes on
 * from the offset that the server answers, whatever was sent: so the size can change between any two requests.
 */
function chunkReader(chunkSize: () => number): NonNullable<UploadOptions['fileReader']> {
  return {
    async openFile(file: Blob) {
      return {
        size: file.size,
        async slice(start: number, end: number) {
          const until = Math.min(end, start + chunkSize(), file.size)
          return { value: file.slice(start, until), done: until >= file.size }
        },
        close() {},
      }
    },
  }
}

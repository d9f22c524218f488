import { MINUTE } from '../../src/domain/clock.ts'
import { wholeNumber } from '../../src/domain/ids.ts'
import { answerOf, RequestFailure } from './answers.ts'

/** Milliseconds of silence after which the connection counts as dead. */
const QUIET = MINUTE

export interface PatchRequest {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly offset: number
  readonly body: Blob
  readonly signal: AbortSignal
  /** Bytes of the body that were sent. */
  readonly onSent: (bytes: number) => void
}

/**
 * Resolves with the durable offset. Throws RequestFailure, also when `signal` is aborted. XMLHttpRequest,
 * because `fetch` does not report upload progress.
 */
export function appendBytes({
  address,
  headers,
  offset,
  body,
  signal,
  onSent,
}: PatchRequest): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = new XMLHttpRequest()
  const lost = () => {
    reject(new RequestFailure(null))
    request.abort()
  }
  let timer = setTimeout(lost, QUIET)
  request.upload.onprogress = ({ loaded }) => {
    clearTimeout(timer)
    timer = setTimeout(lost, QUIET)
    if (!signal.aborted) onSent(loaded)
  }
  request.onload = () => {
    const reached = offsetOf(request)
    if (reached === null) reject(failureOf(request))
    else resolve(reached)
  }
  request.onerror = lost
  signal.addEventListener('abort', lost)
  // Browsers would notice the lost connection only much later.
  addEventListener('offline', lost)
  const all = {
    ...headers,
    'Tus-Resumable': '1.0.0',
    'Upload-Offset': String(offset),
    'Content-Type': 'application/offset+octet-stream',
  }
  if (signal.aborted) lost()
  else {
    request.open('PATCH', address)
    for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value)
    request.send(body)
  }
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', lost)
    removeEventListener('offline', lost)
  })
}

/** Null unless tus answered with success: a captive portal may have answered. */
function offsetOf(request: XMLHttpRequest): number | null {
  return request.status === 204 ? wholeNumber(request.getResponseHeader('upload-offset')) : null
}

function failureOf(request: XMLHttpRequest): RequestFailure {
  const { status, responseText } = request
  if (status < 300) return new RequestFailure(null)
  return new RequestFailure(answerOf(status, responseText, request.getResponseHeader('retry-after')))
}

import { unlessAborted } from '../domain/abort.ts'
import type { StoreRetryPolicy } from './retries.ts'
import { noAnswer, S3Failure } from './s3-failure.ts'
import type { S3Signing } from './s3-signing.ts'
import { outgoing, readAnswerText } from './s3-transfer.ts'
import { Stalled } from './watchdog.ts'

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Absent for requests about the bucket. */
  readonly object?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal
  readonly retries?: StoreRetryPolicy
  /** Milliseconds to the head of the answer, instead of the default. */
  readonly answerWithin?: number
}

export interface S3Try extends S3Request {
  /** Numbered from 1. */
  readonly tries: number
}

export interface WatchedTry extends S3Try {
  readonly signal: AbortSignal
  readonly moved: () => void
}

/** Read the body by one call of `text`, `bytes` or `takeBody`. */
export interface S3Reply {
  /** Names the request, for the log. */
  readonly what: string
  readonly status: number
  readonly headers: Headers
  /** The body has to be small. Throws S3Failure when it is incomplete. */
  text(): Promise<string>
  /** Collected by the runtime. `length`, from the headers, sets the timeout. Throws S3Failure when it is incomplete. */
  bytes(length: number): Promise<Uint8Array<ArrayBuffer>>
  /** The reader has to watch the body's progress. */
  takeBody(): ReadableStream<Uint8Array> | null
  close(): void
}

/**
 * `use` runs at the head of the answer, and settles the call. Throws S3Failure when there is no answer, and the
 * signal's reason when aborted. Retries, watchdog, metrics and refusals are wrappers; the types determine their order.
 */
export interface S3Requests<Request extends S3Request = S3Request> {
  perform<T>(request: Request, use: (reply: S3Reply) => Promise<T>): Promise<T>
}

export function signedRequests(signing: S3Signing): S3Requests<WatchedTry> {
  return {
    async perform(request, use) {
      const { method, body, signal, moved, tries } = request
      const { url, headers } = await signing.sign(request)
      const what = `${method} ${new URL(url).pathname}`
      const sending = body === undefined ? null : outgoing(body, moved)
      if (sending !== null && sending.length !== null) headers.set('Content-Length', String(sending.length))
      const sent = fetch(url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        decompress: false,
        // A connection that broke while idle fails only in use: a retry opens a new one.
        keepalive: tries === 1,
        ...(sending === null ? {} : { body: sending.body }),
      })
      const response = await translating(request, what, () => unlessAborted(signal, sent))
      return use({
        what,
        status: response.status,
        headers: response.headers,
        text: () => translating(request, what, () => readAnswerText(response, what, signal, moved)),
        bytes: () =>
          translating(request, what, () =>
            unlessAborted(
              signal,
              response.arrayBuffer().then((bytes) => new Uint8Array(bytes)),
            ),
          ),
        takeBody: () => response.body,
        close() {},
      })
    },
  }
}

/** Throws S3Failure for errors of the connection, and the signal's reason when aborted. */
async function translating<T>({ signal }: WatchedTry, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) throw signal.reason instanceof Stalled ? noAnswer(what, signal.reason) : signal.reason
    if (error instanceof S3Failure || !isConnectionError(error)) throw error
    throw noAnswer(what, error)
  }
}

/** Bun's fetch reports them with a code such as `ECONNRESET`. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

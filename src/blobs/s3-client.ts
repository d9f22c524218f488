import { AwsV4Signer } from 'aws4fetch'
import { unlessAborted } from '../domain/abort.ts'
import { type Pacing, type Patience, retrying } from './retries.ts'
import { failureOf, isPassing, noAnswer, S3Failure } from './s3-failure.ts'
import { outgoing, readText } from './s3-transfer.ts'
import { isErrorDocument } from './s3-xml.ts'
import { type Watchdog, watchdog } from './watchdog.ts'

export interface S3Settings {
  /** `https://host[:port]` of the service. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The bucket is the first part of the path rather than of the host's name. */
  readonly pathStyle: boolean
}

/** Milliseconds. */
export interface S3Timeouts {
  /** From a request without a body to the head of its answer. */
  readonly answer: number
  /** Without one byte going out or coming in, in the middle of a body. */
  readonly stall: number
}

export const usualTimeouts: S3Timeouts = { answer: 10_000, stall: 30_000 }

/** Somebody waits for the answer. */
const quick: Patience = { tries: 4, giveUpAfter: 12_000 }

/**
 * Told of every try as it begins; the function that comes back is told the status of its answer, or why there was none:
 * `given up` by whoever asked.
 */
export type S3Watch = (method: S3Request['method']) => (outcome: string) => void

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** The object's name; the bucket itself when left out. */
  readonly object?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal
  readonly patience?: Patience
  /** Milliseconds until the head of the answer, where the usual time is not enough or too much. */
  readonly answerWithin?: number
}

export interface S3Answer {
  readonly headers: Headers
  readonly text: string
}

/** An answer whose body is still to come; whoever has it reads the body or cancels it. */
export interface S3Stream {
  readonly status: number
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array> | null
  /** Gives the connection up. */
  close(): void
}

/** Signed requests to one bucket, sent again while that may help. Throws S3Failure for any answer but 2xx. */
export interface S3Client {
  readonly timeouts: S3Timeouts
  /** The whole answer, which has to be small. */
  send(request: S3Request): Promise<S3Answer>
  /** What `use` makes of the answer as soon as its head is there. A failure of `use` may be tried again too. */
  open<T>(request: S3Request, use: (answer: S3Stream) => T | Promise<T>): Promise<T>
  /** An address that carries its own signature, good for so many seconds. */
  presign(object: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string>
}

export function s3Client(
  settings: S3Settings,
  pacing: Pacing,
  timeouts: S3Timeouts,
  watch: S3Watch = () => () => {},
): S3Client {
  const { accessKeyId, secretAccessKey, region } = settings
  const credentials = {
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    cache: new Map<string, ArrayBuffer>(),
  }

  /** One try. The watchdog is still armed, for the body. */
  async function attempt(request: S3Request, tries: number): Promise<Arrived> {
    const { method, body, signal } = request
    signal?.throwIfAborted()
    const url = address(settings, request.object, request.query)
    const what = `${method} ${url.pathname}`
    // The body is covered by its Content-MD5, which is signed. Its SHA-256 would be one more pass over every byte.
    const unsigned = { ...request.headers, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }
    const signed = await new AwsV4Signer({ ...credentials, method, url: url.href, headers: unsigned }).sign()
    // A proxy on the way may change this header, so it is not signed.
    signed.headers.set('Accept-Encoding', 'identity')
    const dog = watchdog(signal)
    const sending = body === undefined ? null : outgoing(body, () => dog.again())
    const streamed = sending?.length ?? null
    if (streamed !== null) signed.headers.set('Content-Length', String(streamed))
    const { answerWithin } = request
    const ended = watch(method)
    let answered: Response | null = null
    try {
      dog.arm(
        streamed === null ? (answerWithin ?? timeouts.answer) : Math.max(timeouts.stall, answerWithin ?? 0),
      )
      const sent = fetch(signed.url, {
        method,
        headers: signed.headers,
        signal: dog.signal,
        redirect: 'manual',
        decompress: false,
        // A connection that broke while it was idle shows that only when it is used: another try gets a fresh one.
        keepalive: tries === 1,
        ...(sending === null ? {} : { body: sending.body }),
      })
      const response = await unlessAborted(dog.signal, sent)
      answered = response
      ended(String(response.status))
      dog.arm(timeouts.stall)
      if (response.ok) return { what, response, dog }
      const text = await readText(response, what, dog)
      throw failureOf(what, response.status, text)
    } catch (error) {
      if (answered === null) ended(signal?.aborted ? 'given up' : 'no answer')
      const told = translated(error, what, dog, signal)
      dog.bite('it was given up')
      throw told
    }
  }

  function tried<T>(request: S3Request, work: (arrived: Arrived) => Promise<T>): Promise<T> {
    const { signal, patience = quick } = request
    return retrying(async (tries) => work(await attempt(request, tries)), {
      passing: isPassing,
      patience,
      pacing,
      signal,
    })
  }

  return {
    timeouts,

    send(request) {
      return tried(request, async ({ what, response, dog }) => {
        try {
          const text = await readText(response, what, dog)
          // Long work is answered 200 before it has begun; how it went is in the body.
          if (isErrorDocument(text)) throw failureOf(what, response.status, text)
          return { headers: response.headers, text }
        } catch (error) {
          const told = translated(error, what, dog, request.signal)
          dog.bite('it was given up')
          throw told
        } finally {
          dog.end()
        }
      })
    },

    open(request, use) {
      return tried(request, async ({ response, dog }) => {
        dog.disarm()
        const { status, headers, body } = response
        const close = () => dog.bite('the reader has gone')
        try {
          return await use({ status, headers, body, close })
        } catch (error) {
          close()
          throw error
        }
      })
    },

    async presign(object, query, seconds) {
      const url = address(settings, object, { ...query, 'X-Amz-Expires': String(seconds) })
      const signed = await new AwsV4Signer({
        ...credentials,
        method: 'GET',
        url: url.href,
        signQuery: true,
      }).sign()
      // A plus for a space is the habit of forms; not every store reads addresses so.
      return signed.url.href.replaceAll('+', '%20')
    },
  }
}

interface Arrived {
  readonly what: string
  readonly response: Response
  readonly dog: Watchdog
}

function address(
  { endpoint, bucket, pathStyle }: S3Settings,
  object = '',
  query: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(endpoint)
  const base = url.pathname.replace(/\/+$/, '')
  if (pathStyle) url.pathname = `${base}/${bucket}${object === '' ? '' : `/${object}`}`
  else {
    url.hostname = `${bucket}.${url.hostname}`
    url.pathname = `${base}/${object}`
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/** What came of a request: the caller's own abort as it is, any trouble of the connection as S3Failure. */
function translated(error: unknown, what: string, dog: Watchdog, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof S3Failure) return error
  if (dog.signal.aborted) return noAnswer(what, dog.signal.reason)
  return isConnectionTrouble(error) ? noAnswer(what, error) : error
}

/** Bun's fetch reports those with a code, `ECONNRESET` for one. */
function isConnectionTrouble(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

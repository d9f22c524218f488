import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { ErrorBody } from '../../contract/fields.ts'
import { ERROR_STATUSES, type Refusal } from '../../domain/errors.ts'
import { wholeNumber } from '../../domain/ids.ts'

const stored = new WeakMap<Response, SourceChunks>()

/** A response in memory. As a Response, reading its body back would cost as much as sending it. */
export class WholeAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly length: number

  constructor(body: string | Uint8Array<ArrayBuffer>, status: number, headers: Headers) {
    this.status = status
    this.headers = headers
    this.body = body
    this.length = Buffer.byteLength(body)
    headers.set('Content-Length', String(this.length))
  }

  asResponse(): Response {
    return new Response(this.body, { status: this.status, headers: this.headers })
  }
}

/** The sender reads the source; there is no stream. */
export function storedResponse(body: SourceChunks, init: ResponseInit): Response {
  const response = new Response(null, init)
  stored.set(response, body)
  return response
}

export function storedBody(response: Response): SourceChunks | null {
  return stored.get(response) ?? null
}

/** Headers are added by `complete`. */
export class JsonAnswer {
  readonly text: string
  readonly status: number

  constructor(value: unknown, status = 200) {
    this.text = JSON.stringify(value)
    this.status = status
  }
}

export function jsonResponse(
  value: unknown,
  init: { status?: number; headers?: Headers | Record<string, string> } = {},
): Response {
  const text = JSON.stringify(value)
  const headers = new Headers(init.headers)
  headers.set('Content-Type', 'application/json')
  headers.set('Content-Length', String(Buffer.byteLength(text)))
  return new Response(text, { status: init.status ?? 200, headers })
}

/** Per read, where the reader provides memory. */
const BUFFER_SIZE = 512 * 1024

export interface BodyChunks {
  /** Null at the end. A chunk is valid until `next` was called twice more. */
  next(): Promise<Uint8Array | null>
  cancel(): void
}

export interface SourceChunks extends BodyChunks {
  /** Returns the chunks' memory. No chunk may be in use. */
  release(): void
}

export function bodyChunks(body: ReadableStream<Uint8Array>): BodyChunks {
  const filled = readerThatFills(body)
  return filled === null ? givenChunks(body) : filledChunks(filled)
}

/** A BYOB reader; null for a stream without support, which only the exception shows. */
function readerThatFills(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: 'byob' })
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

function givenChunks(body: ReadableStream<Uint8Array>): BodyChunks {
  const reader = body.getReader()
  return {
    next: async () => (await reader.read()).value ?? null,
    cancel: () => letGo(reader),
  }
}

function filledChunks(reader: ReadableStreamBYOBReader): BodyChunks {
  let last: ArrayBuffer | null = null
  let free: ArrayBuffer | null = null
  return {
    async next() {
      const { done, value } = await reader.read(new Uint8Array(free ?? new ArrayBuffer(BUFFER_SIZE)))
      if (done) return null
      free = last
      last = value.buffer
      return value
    },
    cancel: () => letGo(reader),
  }
}

function letGo(reader: ReadableStreamGenericReader): void {
  reader.cancel().catch(() => {})
}

export function lengthOf({ headers }: Pick<Response, 'headers'>): number | null {
  return wholeNumber(headers.get('content-length'))
}

/** Throws for a body that does not match its Content-Length. */
export function assertLength(bytes: number, length: number): void {
  if (bytes !== length) throw new Error(`a body of ${length} bytes ended after ${bytes}`)
}

/** Bytes: compression does not speed up a single packet. */
const MIN_BYTES = 1400
/** Bytes compressed synchronously, in a tenth of a millisecond: less than switching threads. */
const MAX_SYNC_BYTES = 64 * 1024
/** Higher levels save a few percent at several times the cost. */
const LEVEL = 1

const TYPES = /^(?:text\/html|application\/json|text\/css|text\/javascript|image\/svg\+xml)(?=;|$)/

/** Excludes uploaded content, zips, ranges, event streams, and encoded responses. See docs/decisions/http.md. */
export function isCompressible(answer: Response | WholeAnswer): boolean {
  if (answer instanceof WholeAnswer && answer.length < MIN_BYTES) return false
  const { status, body, headers } = answer
  if (body === null || status === 206 || !TYPES.test(headers.get('content-type') ?? '')) return false
  if (headers.has('content-disposition') || headers.has('content-encoding')) return false
  // The build compressed assets already.
  if (headers.get('vary')?.includes('Accept-Encoding') === true) return false
  return (wholeNumber(headers.get('content-length')) ?? MIN_BYTES) >= MIN_BYTES
}

export async function compressed(
  response: Response | WholeAnswer,
  answered: Response | JsonAnswer,
  request: Request,
): Promise<Response | WholeAnswer> {
  const { headers } = response
  headers.append('Vary', 'Accept-Encoding')
  if (!mayBeCompressed(request)) return response
  headers.set('Content-Encoding', 'gzip')
  const etag = headers.get('etag')
  // Weakened: the bytes differ from the uncompressed ones.
  if (etag?.startsWith('"') === true) headers.set('ETag', `W/${etag}`)
  if (response instanceof Response && response.body !== null && !headers.has('content-length')) {
    return new Response(streamed(response.body), response)
  }
  return new WholeAnswer(await compressedBody(response, answered), response.status, headers)
}

async function compressedBody(
  response: Response | WholeAnswer,
  answered: Response | JsonAnswer,
): Promise<Uint8Array<ArrayBuffer>> {
  if (answered instanceof JsonAnswer) return gzipOf(answered)
  const whole = response instanceof WholeAnswer ? response.asResponse() : response
  return gzipped(new Uint8Array(await whole.arrayBuffer()))
}

/** Not cross-site with cookies: lengths of responses with an attacker's text could reveal a secret (BREACH). */
function mayBeCompressed({ headers }: Request): boolean {
  const accepted = headers.get('accept-encoding')
  if (accepted === null || !acceptsGzip(accepted)) return false
  const site = headers.get('sec-fetch-site')
  return !headers.has('cookie') || site === null || site === 'same-origin' || site === 'none'
}

const asked = new WeakMap<JsonAnswer, Promise<Uint8Array<ArrayBuffer>>>()

function gzipOf(answer: JsonAnswer): Promise<Uint8Array<ArrayBuffer>> {
  const known = asked.get(answer) ?? gzipped(Buffer.from(answer.text))
  asked.set(answer, known)
  return known
}

const gzipInThread = promisify<Uint8Array, { level: number }, Buffer<ArrayBuffer>>(gzip)

async function gzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.byteLength > MAX_SYNC_BYTES) return gzipInThread(bytes, { level: LEVEL })
  return Bun.gzipSync(bytes, { level: LEVEL, library: 'libdeflate' })
}

function streamed(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const smaller = createGzip({ level: LEVEL })
  // The iterator below reports failures, and destroys the pipeline when closed.
  pipeline(body, smaller).catch(() => {})
  const chunks = smaller.iterator()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      smaller.destroy()
    },
  })
}

export type Encoding = 'br' | 'gzip' | 'identity'

/** Smallest encoding that Accept-Encoding (RFC 9110) allows; `identity` without a header. */
export function acceptedEncoding(header: string): Encoding {
  const qualities = qualitiesOf(header)
  if (isWanted(qualities, 'br')) return 'br'
  return isWanted(qualities, 'gzip') ? 'gzip' : 'identity'
}

export function acceptsGzip(header: string): boolean {
  return isWanted(qualitiesOf(header), 'gzip')
}

type Qualities = ReadonlyMap<string, number>

function qualitiesOf(header: string): Qualities {
  return new Map(
    header
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
        const quality = parameters.find((text) => text.startsWith('q='))?.slice(2)
        return [coding, quality === undefined ? 1 : Number(quality) || 0]
      }),
  )
}

function isWanted(qualities: Qualities, coding: string): boolean {
  return (qualities.get(coding) ?? qualities.get('*') ?? 0) > 0
}

export function errorResponse(refusal: Refusal): Response {
  const { message, code: error, reason } = refusal
  const body: ErrorBody = { success: false, message, error, ...(reason === null ? {} : { reason }) }
  return jsonResponse(body, { status: ERROR_STATUSES[refusal.code], headers: errorHeaders(refusal) })
}

export function errorHeaders(refusal: Refusal): Headers {
  const headers = new Headers({ 'Cache-Control': 'private, no-store' })
  if (refusal.code === 'INVALID_API_KEY') headers.set('WWW-Authenticate', 'Bearer')
  if (refusal.code === 'NOT_SIGNED_IN') headers.set('WWW-Authenticate', 'Session')
  if (refusal.retryAfter !== undefined) headers.set('Retry-After', String(refusal.retryAfter))
  return headers
}

/** Any header. A star excludes Authorization, and older browsers take it for a name. */
const ALLOWED_HEADERS = [
  '*',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'Range',
  'If-Range',
  'X-Folder-ID',
  'Idempotency-Key',
  'Holdfast-Transfer',
  'X-HTTP-Method-Override',
  'X-Request-ID',
  'X-Requested-With',
  'Tus-Resumable',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Checksum',
  'Upload-Concat',
  'Holdfast-Before',
  'Holdfast-Account',
].join(', ')

export const EXPOSED_HEADERS = [
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Repr-Digest',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'Location',
  'Holdfast-Before',
  'Holdfast-Receipt',
  'Holdfast-Slug',
  'Holdfast-Url',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Expires',
  'Upload-Concat',
].join(', ')

export function preflight(allowed: readonly string[]): Response {
  return new Response(null, {
    status: 204,
    headers: {
      Allow: allowed.join(', '),
      'Access-Control-Allow-Methods': allowed.join(', '),
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': '86400',
    },
  })
}

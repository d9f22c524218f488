import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { wholeNumber } from '../../domain/whole-number.ts'
import type { RequestContext } from '../request-context.ts'
import { acceptsGzip } from './encoding.ts'
import { JsonAnswer, WholeAnswer } from './known-body.ts'

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
  context: RequestContext,
): Promise<Response | WholeAnswer> {
  const { headers } = response
  headers.append('Vary', 'Accept-Encoding')
  if (!mayBeCompressed(context)) return response
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
function mayBeCompressed({ request: { headers } }: RequestContext): boolean {
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

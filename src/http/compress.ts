import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { Arrival } from './arrival.ts'
import { JsonAnswer } from './json.ts'
import { acceptsGzip } from './site/encoding.ts'

/** What fits into one packet arrives no sooner when it is smaller. Bytes. */
const LEAST = 1400
/** Up to here compressing takes a tenth of a millisecond, less than to ask another thread for it. */
const MOST_AT_ONCE = 64 * 1024
/** Higher levels save some percent, and take several times as long. */
const LEVEL = 1

const TYPES = /^(?:text\/html|application\/json|text\/css|text\/javascript|image\/svg\+xml)(?=;|$)/

/**
 * Whether the answer is text of ours that would be smaller compressed. What people upload, zips and ranges are not, nor
 * events, nor what has an encoding already. See docs/decisions/052-compression.md.
 */
export function isCompressible({ status, body, headers }: Response): boolean {
  if (body === null || status === 206 || !TYPES.test(headers.get('content-type') ?? '')) return false
  if (headers.has('content-disposition') || headers.has('content-encoding')) return false
  // Assets have chosen among the forms that the build has made of them.
  if (headers.get('vary')?.includes('Accept-Encoding') === true) return false
  const length = headers.get('content-length')
  return length === null || Number(length) >= LEAST
}

/** The answer in the form that the request accepts. `answered`: what it was made from. */
export async function compressed(
  response: Response,
  answered: Response | JsonAnswer,
  arrival: Arrival,
): Promise<Response> {
  const { headers } = response
  headers.append('Vary', 'Accept-Encoding')
  if (!mayBeCompressed(arrival)) return response
  headers.set('Content-Encoding', 'gzip')
  const etag = headers.get('etag')
  // The same content in other bytes.
  if (etag?.startsWith('"') === true) headers.set('ETag', `W/${etag}`)
  if (response.body !== null && !headers.has('content-length')) {
    return new Response(streamed(response.body), response)
  }
  const bytes =
    answered instanceof JsonAnswer
      ? await gzipOf(answered)
      : await gzipped(new Uint8Array(await response.arrayBuffer()))
  headers.set('Content-Length', String(bytes.byteLength))
  return new Response(bytes, { status: response.status, headers })
}

/**
 * Not where another site makes a browser ask in somebody's name: by the lengths of many such answers, a secret in them could
 * be guessed beside a text of the asker's choice (BREACH).
 */
function mayBeCompressed({ request: { headers } }: Arrival): boolean {
  const accepted = headers.get('accept-encoding')
  if (accepted === null || !acceptsGzip(accepted)) return false
  const site = headers.get('sec-fetch-site')
  return !headers.has('cookie') || site === null || site === 'same-origin' || site === 'none'
}

const asked = new WeakMap<JsonAnswer, Promise<Uint8Array<ArrayBuffer>>>()

/** Kept with the answer, for one that is given many times. */
function gzipOf(answer: JsonAnswer): Promise<Uint8Array<ArrayBuffer>> {
  const known = asked.get(answer) ?? gzipped(Buffer.from(answer.text))
  asked.set(answer, known)
  return known
}

const inAnotherThread = promisify<Uint8Array, { level: number }, Buffer<ArrayBuffer>>(gzip)

async function gzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.byteLength > MOST_AT_ONCE) return inAnotherThread(bytes, { level: LEVEL })
  return Bun.gzipSync(bytes, { level: LEVEL, library: 'libdeflate' })
}

/** In constant memory, however long it is. */
function streamed(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const smaller = createGzip({ level: LEVEL })
  // Whoever reads it hears of its failure, and whoever leaves ends it.
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

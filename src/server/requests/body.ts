import type { Caller } from '../../core/callers.ts'
import { holderOf } from '../../core/shares.ts'
import { Refusal } from '../../domain/errors.ts'
import { formatSize } from '../../domain/sizes.ts'
import { wholeNumber } from '../../domain/whole-number.ts'
import type { SmallBodies, SmallBody } from './small-bodies.ts'

/** The fields of a call that reading its body requires. */
export interface BodyCall {
  readonly request: Request
  readonly bucket: string
  readonly caller: Caller | null
  /** Maximum bytes of the body. */
  readonly bodyLimit: number
  /** Additional headers of the response. */
  readonly headers: Map<string, string>
  readonly site: { readonly smallBodies: SmallBodies }
}

const read = new WeakMap<Request, number>()

/** Bytes of the body that were read here, regardless of its Content-Length. */
export function bytesRead(request: Request): number {
  return read.get(request) ?? 0
}

/**
 * Parses the body as JSON. Throws Refusal INVALID_REQUEST, PAYLOAD_TOO_LARGE for more bytes than `bodyLimit`,
 * REQUEST_TIMEOUT for a slow sender, RATE_LIMITED for an address that sends too many at once, or SERVER_BUSY
 * when all together do.
 */
export async function readJsonBody(call: BodyCall): Promise<unknown> {
  const bytes = await readBytes(call)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be JSON in UTF-8')
  }
}

/** Parses an `application/x-www-form-urlencoded` body. Throws Refusal like `readJson`. */
export async function readForm(call: BodyCall): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBytes(call)))
}

/**
 * Parses a `multipart/form-data` body, in memory: for small files, which are copied. Throws Refusal like `readJsonBody`.
 */
export async function readFormData(call: BodyCall) {
  const type = call.request.headers.get('content-type') ?? ''
  const bytes = await readBytes(call)
  try {
    return await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be multipart/form-data')
  }
}

/**
 * Bodies are taken as they are sent: what a coding hides would be kept as the file. Throws Refusal INVALID_REQUEST for a
 * Content-Encoding.
 */
export function assertUncoded(headers: Headers): void {
  if (!/^(?:identity)?$/i.test(headers.get('content-encoding') ?? ''))
    throw coded(headers, 'Content-Encoding')
}

/**
 * Throws Refusal INVALID_REQUEST for headers after which a proxy could see another end of the body than Bun does: a
 * length that is not one whole number, and a Transfer-Encoding other than chunked (RFC 9112 §6.3).
 */
export function assertOneEnd(headers: Headers): void {
  contentLength(headers)
  if (!/^chunked$/i.test(headers.get('transfer-encoding') ?? 'chunked'))
    throw coded(headers, 'Transfer-Encoding')
}

function coded(headers: Headers, name: string): Refusal {
  return new Refusal('INVALID_REQUEST', `Send the body without "${name}: ${headers.get(name)}"`)
}

/** Whether the headers say that there is a body, of no bytes perhaps. HTTP takes anything else for none. */
export function declaresBody(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

/**
 * The length of the body, null where it is not declared. Throws Refusal INVALID_REQUEST for anything but one number, also for
 * one that came twice: what stands between may have read the body otherwise (RFC 9112 §6.3).
 */
export function contentLength(headers: Headers): number | null {
  const text = headers.get('content-length')
  const length = wholeNumber(text)
  if (text === null || length !== null) return length
  throw new Refusal('INVALID_REQUEST', 'Content-Length must be one whole number')
}

async function readBytes(call: BodyCall): Promise<Uint8Array<ArrayBuffer>> {
  const { request, headers, site, bodyLimit: most } = call
  const tooLarge = () =>
    new Refusal('PAYLOAD_TOO_LARGE', `The body may have ${formatSize(most)} at most here`)
  if ((contentLength(request.headers) ?? 0) > most) throw tooLarge()
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  let reading: SmallBody | null = null
  try {
    reading = site.smallBodies.begin(request.body, holderOf(call))
    for (;;) {
      const chunk = await reading.next()
      if (chunk === null) return Buffer.concat(chunks)
      length += chunk.byteLength
      read.set(request, length)
      if (length > most) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    // The unread rest of the body must not be parsed as a next request.
    headers.set('Connection', 'close')
    throw error
  } finally {
    reading?.end()
  }
}

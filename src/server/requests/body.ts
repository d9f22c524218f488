import type { Caller } from '../../core/callers.ts'
import { holderOf } from '../../core/shares.ts'
import { Refusal } from '../../domain/errors.ts'
import { formatSize } from '../../domain/sizes.ts'
import { wholeNumber } from '../../domain/whole-number.ts'
import type { SmallBodies, SmallBody } from './small-bodies.ts'

export interface BodyCall {
  readonly request: Request
  readonly bucket: string
  readonly caller: Caller | null
  readonly bodyLimit: number
  readonly headers: Map<string, string>
  readonly site: { readonly smallBodies: SmallBodies }
}

const read = new WeakMap<Request, number>()

/** Actual bytes, not Content-Length. */
export function bytesRead(request: Request): number {
  return read.get(request) ?? 0
}

/**
 * Throws Refusal INVALID_REQUEST; PAYLOAD_TOO_LARGE over `bodyLimit`; REQUEST_TIMEOUT for a slow sender; RATE_LIMITED
 * or SERVER_BUSY at the ceiling of the address or of all.
 */
export async function readJsonBody(call: BodyCall): Promise<unknown> {
  const bytes = await readBytes(call)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be JSON in UTF-8')
  }
}

export async function readForm(call: BodyCall): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBytes(call)))
}

/** `multipart/form-data` in memory: for small files, which are copied. Throws like `readJsonBody`. */
export async function readFormData(call: BodyCall) {
  const type = call.request.headers.get('content-type') ?? ''
  const bytes = await readBytes(call)
  try {
    return await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be multipart/form-data')
  }
}

/** Bodies are stored as sent, coding included. Throws Refusal INVALID_REQUEST for a Content-Encoding. */
export function assertUncoded(headers: Headers): void {
  if (!/^(?:identity)?$/i.test(headers.get('content-encoding') ?? ''))
    throw coded(headers, 'Content-Encoding')
}

/** Refuses (INVALID_REQUEST) what a proxy could delimit otherwise: length, Transfer-Encoding (RFC 9112 §6.3). */
export function assertOneEnd(headers: Headers): void {
  contentLength(headers)
  if (!/^chunked$/i.test(headers.get('transfer-encoding') ?? 'chunked'))
    throw coded(headers, 'Transfer-Encoding')
}

function coded(headers: Headers, name: string): Refusal {
  return new Refusal('INVALID_REQUEST', `Send the body without "${name}: ${headers.get(name)}"`)
}

/** A declared body may be empty. */
export function declaresBody(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

/** Throws Refusal INVALID_REQUEST unless one number: a proxy may have read a repeated one otherwise (RFC 9112 §6.3). */
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
    // The unread rest must not be parsed as a request.
    headers.set('Connection', 'close')
    throw error
  } finally {
    reading?.end()
  }
}

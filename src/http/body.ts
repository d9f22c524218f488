import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'
import type { SmallBodies } from './small-bodies.ts'

/** The most that a JSON body may weigh anywhere: a list of a whole account's identifiers. */
export const LARGE_JSON = 1024 * 1024
/** What JSON may weigh where a route says nothing else: 200 identifiers and more, or every field at its longest. */
export const SMALL_JSON = 16 * 1024
/** A text of some thousand characters beside other fields, in any script and however it is escaped. */
export const TEXT_BODY = 64 * 1024
/** What a form may weigh where a route says nothing else: a name, a password, a path. */
const SMALL_FORM = 8 * 1024

/** What of a call its body is read by. */
export interface BodyCall {
  readonly request: Request
  readonly bucket: string
  /** Headers that the answer gets besides its own. */
  readonly headers: Map<string, string>
  readonly site: { readonly smallBodies: SmallBodies }
}

const read = new WeakMap<Request, number>()

/** Bytes of the body that were read here, whatever length the request claims. */
export function bytesRead(request: Request): number {
  return read.get(request) ?? 0
}

/**
 * The request's JSON. Throws Refusal INVALID_REQUEST, PAYLOAD_TOO_LARGE for more than `most` bytes, REQUEST_TIMEOUT for a
 * slow sender, or RATE_LIMITED for one address that sends too many at once.
 */
export async function readJson(call: BodyCall, most = SMALL_JSON): Promise<unknown> {
  const bytes = await readBytes(call, most)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be JSON in UTF-8')
  }
}

/** The fields of a form sent as `application/x-www-form-urlencoded`. Throws Refusal as `readJson` does. */
export async function readForm(call: BodyCall, most = SMALL_FORM): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBytes(call, most)))
}

async function readBytes(call: BodyCall, most: number): Promise<Uint8Array> {
  const { request, headers, site } = call
  const tooLarge = () =>
    new Refusal('PAYLOAD_TOO_LARGE', `The body may have ${formatSize(most)} at most here`)
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge()
  if (request.body === null) return new Uint8Array()
  const reading = site.smallBodies.begin(request.body, call.bucket)
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for (;;) {
      const chunk = await reading.next()
      if (chunk === null) return Buffer.concat(chunks)
      length += chunk.byteLength
      read.set(request, length)
      if (length > most) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    // What is left of the body is no next request.
    headers.set('Connection', 'close')
    throw error
  } finally {
    reading.end()
  }
}

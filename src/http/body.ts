import { Refusal } from '../domain/errors.ts'

const MAX_JSON = 1024 * 1024

const read = new WeakMap<Request, number>()

/** Bytes of the body that were read here, whatever length the request claims. */
export function bytesRead(request: Request): number {
  return read.get(request) ?? 0
}

/** The request's JSON. Throws Refusal INVALID_REQUEST, or PAYLOAD_TOO_LARGE over 1 MiB. */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBytes(request, MAX_JSON)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be JSON in UTF-8')
  }
}

/** The fields of a form sent as `application/x-www-form-urlencoded`, 64 KiB at most. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBytes(request, 64 * 1024)))
}

async function readBytes(request: Request, most: number): Promise<Uint8Array> {
  const tooLarge = () => new Refusal('PAYLOAD_TOO_LARGE', `The body may have ${most} bytes at most`)
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength
    read.set(request, length)
    if (length > most) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

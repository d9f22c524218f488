import type { StoredBody } from '../connections/stored-body.ts'

const known = new WeakMap<Response, string | Uint8Array<ArrayBuffer>>()
const stored = new WeakMap<Response, StoredBody>()

/** Remembers the response's source: reading its body back costs as much as the rest of sending it. */
export function withKnownBody(response: Response, body: string | Uint8Array<ArrayBuffer>): Response {
  known.set(response, body)
  return response
}

/** Undefined when it was not remembered. */
export function knownBody(response: Response): string | Uint8Array<ArrayBuffer> | undefined {
  return known.get(response)
}

/** A response whose body never becomes a stream: its sender reads the source. */
export function storedResponse(body: StoredBody, init: ResponseInit): Response {
  const response = new Response(null, init)
  stored.set(response, body)
  return response
}

/** Null for any other response. */
export function storedBody(response: Response): StoredBody | null {
  return stored.get(response) ?? null
}

import type { SourceChunks } from '../connections/body-chunks.ts'

const known = new WeakMap<Response, string | Uint8Array<ArrayBuffer>>()
const stored = new WeakMap<Response, SourceChunks>()

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
export function storedResponse(body: SourceChunks, init: ResponseInit): Response {
  const response = new Response(null, init)
  stored.set(response, body)
  return response
}

/** Null for any other response. */
export function storedBody(response: Response): SourceChunks | null {
  return stored.get(response) ?? null
}

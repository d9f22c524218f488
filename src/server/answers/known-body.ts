import type { SourceChunks } from '../connections/body-chunks.ts'

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

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

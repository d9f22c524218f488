/** A JSON answer that says how long it is. */
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

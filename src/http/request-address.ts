/** The address of requests that name none. */
export const NOWHERE = 'http://nowhere.invalid'

/**
 * A Host that is none must not be read as a part of the path, or the other way round. Of a whole address in the place of
 * the path (RFC 9112, section 3.2.2) the path counts, as on the other side: no name is served that Host does not say.
 */
export function urlOf(headers: Headers, target: string): string | null {
  const path = target.startsWith('/') ? target : pathOf(target)
  if (path === null || !isOneHost(headers)) return null
  const host = headers.get('host') ?? new URL(NOWHERE).host
  const address = `http://${host}${path}`
  return host !== '' && !/[\s/?#@\\]/.test(host) && URL.canParse(address) ? address : null
}

/** The path with its query; null for what is no address of HTTP. */
export function pathOf(address: string): string | null {
  const url = URL.parse(address)
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.pathname + url.search : null
}

/**
 * The request with a whole address, where it can have one. Bun gives a request of HTTP/1.0 without Host no more than a
 * path for its URL, and refuses one of HTTP/1.1.
 */
export function addressed(request: Request): Request {
  if (request.headers.has('host')) return request
  const path = request.url.startsWith('/') ? request.url : pathOf(request.url)
  if (path === null) return request
  return new Request(`${NOWHERE}${path}`, request)
}

/** Two Host headers come as one with a comma, which no name of a host has. */
export function isOneHost(headers: Headers): boolean {
  return headers.get('host')?.includes(',') !== true
}

export const NOWHERE = 'http://nowhere.invalid'

/**
 * Null for an invalid URL. Validates the Host, so that it cannot be parsed as a part of the path, or the reverse. Of an
 * absolute target (RFC 9112 §3.2.2) only the path counts; the Host header decides the host.
 */
export function urlOf(headers: Headers, target: string, isAncient: boolean): string | null {
  const path = target.startsWith('/') ? target : pathOfAddress(target)
  // Repeated Host headers are joined with a comma, which no host name contains.
  const told = headers.get('host')
  if (path === null || told?.includes(',') === true || (!isAncient && told === null)) return null
  const host = told ?? new URL(NOWHERE).host
  const address = `http://${host}${path}`
  return host !== '' && !/[\s/?#@\\]/.test(host) && URL.canParse(address) ? address : null
}

export function pathOfAddress(address: string): string | null {
  const url = URL.parse(address)
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.pathname + url.search : null
}

export function headersOf(list: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < list.length; at += 2) {
    headers.append(list[at] ?? '', list[at + 1] ?? '')
  }
  return headers
}

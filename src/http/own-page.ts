import { Refusal } from '../domain/errors.ts'

/** What of a call tells where it comes from. */
export interface Asked {
  readonly request: Request
  readonly url: URL
  readonly site: { readonly publicUrl: string }
}

/**
 * Throws Refusal INVALID_REQUEST for a form that a browser sends from a page of another site. Browsers say so in
 * Sec-Fetch-Site, over plain HTTP at least in Origin. What says neither is no browser, and sends nobody's cookies.
 */
export function assertFromOwnPage(call: Asked): void {
  const site = call.request.headers.get('sec-fetch-site')
  const origin = call.request.headers.get('origin')
  // "none": somebody has asked for the address by hand, as in sending a form again.
  const isOwn =
    site === null ? origin === null || isOurs(call, origin) : ['same-origin', 'none'].includes(site)
  if (!isOwn)
    throw new Refusal('INVALID_REQUEST', 'This form can be sent from its own page only; open that first')
}

/**
 * Throws Refusal FOREIGN_ORIGIN unless a browser says that a page of this very origin sends the request. What says
 * nothing is refused too: sessions are for browsers, and programs have keys.
 */
export function assertOwnOrigin(call: Asked): void {
  const site = call.request.headers.get('sec-fetch-site')
  const origin = call.request.headers.get('origin')
  const isOwn = site === null ? origin !== null && isOurs(call, origin) : site === 'same-origin'
  if (!isOwn) {
    throw new Refusal(
      'FOREIGN_ORIGIN',
      'This can be asked for from a page of this site only; programs use an API key',
    )
  }
}

/** Whether a session counts in a request that changes nothing: not where a page of another site asks in the background. */
export function mayBeSignedIn({ request }: Asked): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return true
  return request.headers.get('sec-fetch-mode') === 'navigate'
}

export function isSafe(method: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/** A page may have been opened at another address of this server than the public one. */
function isOurs({ site, url }: Asked, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return host === new URL(site.publicUrl).host || host === url.host
}

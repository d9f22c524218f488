import { Refusal } from '../domain/errors.ts'
import type { Call } from './call.ts'

/**
 * Throws Refusal INVALID_REQUEST for a form that a browser sends from a page of another site. Browsers say so in
 * Sec-Fetch-Site, over plain HTTP at least in Origin. What says neither is no browser, and sends nobody's cookies.
 */
export function assertFromOwnPage(call: Call): void {
  const site = call.request.headers.get('sec-fetch-site')
  const origin = call.request.headers.get('origin')
  // "none": somebody has asked for the address by hand, as in sending a form again.
  const isOwn =
    site === null ? origin === null || isOurs(call, origin) : ['same-origin', 'none'].includes(site)
  if (!isOwn)
    throw new Refusal('INVALID_REQUEST', 'This form can be sent from its own page only; open that first')
}

/** A page may have been opened at another address of this server than the public one. */
function isOurs({ site, url }: Call, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return host === new URL(site.publicUrl).host || host === url.host
}

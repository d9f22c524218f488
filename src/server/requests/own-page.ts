import { Refusal } from '../../domain/errors.ts'

export interface FormCall {
  readonly request: Request
  readonly url: URL
  readonly site: {
    readonly publicUrl: string
    readonly config: { readonly publicUrl: string | null }
  }
}

/** `by hand`: entered, bookmarked, reloaded. `link`: from another site. `untold`: no browser, or an old one. */
type RequestSource = 'own page' | 'by hand' | 'link' | 'untold' | 'elsewhere'

/**
 * By Sec-Fetch-Site or, over plain HTTP, Origin. A foreign Origin outweighs all. "null" hides the origin, as for pages
 * without referrers, so only Sec-Fetch-Site counts.
 */
function sourceOf(call: FormCall): RequestSource {
  const { headers } = call.request
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const isHidden = origin === 'null' && site !== null
  if (origin !== null && !isHidden && !isOwnOrigin(call, origin)) return 'elsewhere'
  if (site === null) return origin === null ? 'untold' : 'own page'
  if (site === 'same-origin') return 'own page'
  if (site === 'none') return 'by hand'
  return headers.get('sec-fetch-mode') === 'navigate' ? 'link' : 'elsewhere'
}

/** Throws Refusal INVALID_REQUEST for a form of another site. Programs send no such headers and no user's cookies. */
export function assertFromOwnPage(call: FormCall): void {
  if (['own page', 'by hand', 'untold'].includes(sourceOf(call))) return
  throw new Refusal('INVALID_REQUEST', 'This form must be sent from its own page; open that page first')
}

/**
 * Throws Refusal FOREIGN_ORIGIN unless the browser states that a page of this origin asks. Refuses requests without
 * these headers: sessions are for browsers, programs have keys.
 */
export function assertOwnOrigin(call: FormCall): void {
  if (sourceOf(call) === 'own page') return
  throw new Refusal(
    'FOREIGN_ORIGIN',
    'This can be asked for from a page of this site only; programs use an API key',
  )
}

/** For safe requests: not from another site's page in the background. */
export function mayBeSignedIn(call: FormCall): boolean {
  return sourceOf(call) !== 'elsewhere'
}

export function isSafe(method: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/** Without a configured public address a page may be open at any address of this server, so the Host header decides. */
function isOwnOrigin({ site, url }: FormCall, origin: string): boolean {
  const from = URL.parse(origin)
  if (from === null) return false
  if (from.origin === new URL(site.publicUrl).origin) return true
  return site.config.publicUrl === null && from.host === url.host
}

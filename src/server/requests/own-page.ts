import { Refusal } from '../../domain/errors.ts'

/** The fields of a call that show its origin. */
export interface FormCall {
  readonly request: Request
  readonly url: URL
  readonly site: {
    readonly publicUrl: string
    /** Null when no public address is configured. */
    readonly config: { readonly publicUrl: string | null }
  }
}

/**
 * `own page`: requested by a page of this origin. `by hand`: entered, bookmarked or reloaded by a person.
 * `link`: navigation from another site. `untold`: not a browser, or an old one. `elsewhere`: requested by a
 * page of another site.
 */
type RequestSource = 'own page' | 'by hand' | 'link' | 'untold' | 'elsewhere'

/**
 * Origin of a request according to Sec-Fetch-Site or, over plain HTTP, Origin. A foreign Origin outweighs
 * everything. "null" hides the origin, as forms of pages without referrers do, so that only Sec-Fetch-Site
 * counts.
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

/**
 * Throws Refusal INVALID_REQUEST for a form sent from a page of another site. Requests without these headers
 * are accepted: they come from programs, which carry no user's cookies.
 */
export function assertFromOwnPage(call: FormCall): void {
  if (['own page', 'by hand', 'untold'].includes(sourceOf(call))) return
  throw new Refusal('INVALID_REQUEST', 'This form must be sent from its own page; open that page first')
}

/**
 * Throws Refusal FOREIGN_ORIGIN unless the browser states that a page of this origin made the request.
 * Requests without these headers are refused too: sessions are for browsers, and programs have keys.
 */
export function assertOwnOrigin(call: FormCall): void {
  if (sourceOf(call) === 'own page') return
  throw new Refusal(
    'FOREIGN_ORIGIN',
    'This can be asked for from a page of this site only; programs use an API key',
  )
}

/**
 * Whether a session counts for a safe request: not when a page of another site makes it in the background.
 */
export function mayBeSignedIn(call: FormCall): boolean {
  return sourceOf(call) !== 'elsewhere'
}

export function isSafe(method: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/**
 * Compares with the configured public address. Without one, a page may have been opened at any address of
 * this server, so the Host header decides.
 */
function isOwnOrigin({ site, url }: FormCall, origin: string): boolean {
  const from = URL.parse(origin)
  if (from === null) return false
  if (from.origin === new URL(site.publicUrl).origin) return true
  return site.config.publicUrl === null && from.host === url.host
}

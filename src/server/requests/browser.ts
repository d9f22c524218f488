import type { Language } from '../../domain/account.ts'
import type { ShownBranding } from '../../domain/branding.ts'
import { SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Notice } from '../../domain/notice.ts'

export function cookieValue(request: Request, name: string): string | null {
  for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
    const [key, ...value] = pair.trim().split('=')
    if (key === name) return value.join('=')
  }
  return null
}

/**
 * Set-Cookie header of a cookie that scripts cannot read. `lasts`: milliseconds; 0 deletes it. `path`: of the pages that
 * get it.
 */
export function setCookie(
  { publicUrl }: { readonly publicUrl: string },
  { name, value, lasts, path = '/' }: { name: string; value: string; lasts: number; path?: string },
): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${name}=${value}; Path=${path}; Max-Age=${lasts / SECOND}; HttpOnly; SameSite=Lax${secure}`
}

export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

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

export interface PageReader {
  readonly language: Language
  /** For Intl: `de-AT`. */
  readonly locale: string
  readonly username?: string | null
  readonly account?: AccountId | null
  /** Without a trailing slash. */
  readonly publicUrl?: string
  readonly notice?: ShownNotice | null
  readonly isAdmin?: boolean
  readonly branding?: ShownBranding
  /** A session could not be looked up, so no link to sign in is shown. */
  readonly isUnsure?: boolean
}

export type ShownNotice = Pick<Notice, 'text' | 'level'>

/** Without a supported language or a country. */
const LOCALES = { en: 'en-GB', de: 'de-DE' } as const satisfies Record<Language, string>

/** First language of Accept-Language (RFC 9110) that has texts, else English. */
export function readerOf(request: Request): PageReader {
  for (const tag of preferred(request.headers.get('accept-language') ?? '')) {
    const [, language = '', country] = /^([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}))?(?:-|$)/i.exec(tag) ?? []
    const spoken = language.toLowerCase()
    if (!isLanguage(spoken)) continue
    const locale = country === undefined ? LOCALES[spoken] : `${spoken}-${country.toUpperCase()}`
    return { language: spoken, locale }
  }
  return { language: 'en', locale: LOCALES.en }
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(LOCALES, text)
}

function preferred(header: string): string[] {
  return header
    .split(',')
    .slice(0, 32)
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((text) => text.trim())
      const quality = parameters.find((text) => /^q=/i.test(text))?.slice(2)
      return { tag, quality: quality === undefined ? 1 : Number(quality) || 0 }
    })
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag)
}

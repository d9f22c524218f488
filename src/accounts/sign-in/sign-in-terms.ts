import { DAY, MINUTE } from '../../domain/clock.ts'

/** Validity of a re-authentication. */
export const REAUTHENTICATION_LASTS = 10 * MINUTE

/** Idle lifetime of a session. */
export const SESSION_LASTS = 30 * DAY

/** Absolute lifetime of a session. */
export const SESSION_ENDS = 90 * DAY

/** Longest lifetime that browsers grant a cookie (RFC 6265bis); the server decides when a session ends. */
export const COOKIE_LASTS = 400 * DAY

/** Time limit between the password and the code. */
export const CODE_MAY_TAKE = 10 * MINUTE

/** Callback path for OpenID Connect, as registered at the provider. */
export const OIDC_CALLBACK = '/sign-in/oauth2/callback/oidc'

/** What sign-in uses of a request. */
export interface Browser {
  /** The Cookie header. */
  readonly cookies: string
  readonly userAgent: string | null
  /** The client's address; empty when unknown. */
  readonly address: string
}

/** Prefix of sign-in cookies. `__Host-`: browsers accept them only from this exact host, over TLS. */
export function cookiePrefix(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-holdfast' : 'holdfast'
}

/** Name of the session cookie. */
export function sessionCookie(publicUrl: string): string {
  return `${cookiePrefix(publicUrl)}.session_token`
}

/** Attributes of sign-in cookies. */
export function cookieFlags(publicUrl: string): string {
  return `; Path=/; HttpOnly; SameSite=Lax${publicUrl.startsWith('https:') ? '; Secure' : ''}`
}

/** Value of the browser's cookie of that name, or null. */
export function browserCookie({ cookies }: Browser, name: string): string | null {
  const pair = cookies.split(/; */).find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? null
}

import { DAY, MINUTE } from '../domain/clock.ts'

/** A session that nobody uses for this long is over. */
export const SESSION_LASTS = 30 * DAY

/** A session ends after this long, however often it is used. */
export const SESSION_ENDS = 90 * DAY

/** As long as browsers keep a cookie at all (RFC 6265bis): how long a session lasts is for the server to say. */
export const COOKIE_LASTS = 400 * DAY

/** How long somebody may take between the password and the code. */
export const CODE_MAY_TAKE = 10 * MINUTE

/** What better-auth's own paths begin with; none of them is ever asked for. */
export const AUTH_PATH = '/sign-in'

/** Where another server sends people back to, as it was told beforehand. */
export const OIDC_CALLBACK = `${AUTH_PATH}/oauth2/callback/oidc`

/** What the cookies of signing in begin with. `__Host-`: browsers take them from this very host, and over TLS alone. */
export function cookiePrefix(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-holdfast' : 'holdfast'
}

/** The cookie that ties the code, when it comes next, to the password that was given. */
export function passwordCookie(publicUrl: string): string {
  return `${cookiePrefix(publicUrl)}.password`
}

/** The cookie that holds a session's secret, a dot, and a signature that we need not look at. */
export function sessionCookie(publicUrl: string): string {
  return `${cookiePrefix(publicUrl)}.session_token`
}

/** What the cookies of signing in end with. */
export function cookieFlags(publicUrl: string): string {
  return `; Path=/; HttpOnly; SameSite=Lax${publicUrl.startsWith('https:') ? '; Secure' : ''}`
}

/** The value of the browser's cookie of that name, or null. */
export function browserCookie({ cookies }: { readonly cookies: string }, name: string): string | null {
  const pair = cookies.split(/; */).find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? null
}

/** The Cookie header of a browser that has taken these Set-Cookie headers. */
export function cookieOf(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .join('; ')
}

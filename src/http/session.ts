import { Refusal } from '../domain/errors.ts'
import type { Browser } from '../services/auth.ts'
import type { Caller, SessionCaller } from '../services/caller.ts'
import type { Sessions } from '../services/sessions.ts'
import type { SignIn } from '../services/sign-in.ts'
import { sessionCookie } from '../services/signing-in-terms.ts'
import { cookieValue } from './cookies.ts'
import { jsonResponse } from './json.ts'
import { type Asked, assertOwnOrigin, isSafe, mayBeSignedIn } from './own-page.ts'

/** What of a call tells who is signed in. */
interface SessionCall extends Asked {
  /** Headers that the answer gets besides its own. */
  readonly headers: Map<string, string>
  caller: Caller | null
  readonly site: {
    readonly publicUrl: string
    readonly services: { readonly sessions: Sessions; readonly signIn: SignIn }
  }
}

/** The secret in the cookie of a session, or null. */
export function sessionToken({ site, request }: Asked): string | null {
  const value = cookieValue(request, sessionCookie(site.publicUrl))
  const [token] = value === null ? [] : (/^[\w-]+/.exec(value) ?? [])
  return token ?? null
}

/**
 * The session of a request to the API, or null when the browser has none. Throws Refusal FOREIGN_ORIGIN when another
 * site asks for a change, and NOT_SIGNED_IN or ACCOUNT_DISABLED.
 */
export async function apiSession(call: SessionCall): Promise<SessionCaller | null> {
  const token = sessionToken(call)
  if (token === null) return null
  if (!isSafe(call.request.method)) assertOwnOrigin(call)
  else if (!mayBeSignedIn(call)) return null
  return call.site.services.sessions.authenticate(token)
}

/** Who looks at a page, or null. A session that does not count makes nobody of the caller, not an error. */
export async function pageSession(call: SessionCall): Promise<SessionCaller | null> {
  try {
    const session = mayBeSignedIn(call) ? await apiSession(call) : null
    if (session !== null) call.caller = session
    return session
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // Uploads from the page would be refused as those of somebody who is signed out.
    if (error.code === 'NOT_SIGNED_IN') {
      for (const cookie of call.site.services.signIn.forget()) call.headers.set('Set-Cookie', cookie)
    }
    return null
  }
}

/** What the browser brings along for signing in. */
export function browserOf({ request }: Asked): Browser {
  return { cookies: request.headers.get('cookie') ?? '', userAgent: request.headers.get('user-agent') }
}

/** Ends the session that the browser was in, for somebody who has just begun another one or signs out. */
export async function endPresentSession(call: SessionCall): Promise<void> {
  const token = sessionToken(call)
  if (token === null) return
  const { sessions } = call.site.services
  const present = await sessions.authenticate(token).catch((error: unknown) => {
    if (error instanceof Refusal) return null
    throw error
  })
  if (present !== null) await sessions.end(present, present.by.session)
}

export function jsonWithCookies(value: unknown, cookies: readonly string[]): Response {
  return withCookies(jsonResponse(value), cookies)
}

export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

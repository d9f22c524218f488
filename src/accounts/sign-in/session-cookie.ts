import { jsonResponse } from '../../server/answers/json.ts'
import { cookieValue } from '../../server/requests/cookies.ts'
import type { FormCall } from '../../server/requests/own-page.ts'
import { type Browser, sessionCookie } from './sign-in-terms.ts'

/** Token in the session cookie, or null. */
export function sessionToken({ site, request }: FormCall): string | null {
  const value = cookieValue(request, sessionCookie(site.publicUrl))
  const [token] = value === null ? [] : (/^[\w-]+/.exec(value) ?? [])
  return token ?? null
}

/** Headers of the request that sign-in uses. */
export function browserOf({ request }: FormCall): Browser {
  return { cookies: request.headers.get('cookie') ?? '', userAgent: request.headers.get('user-agent') }
}

export function jsonWithCookies(value: unknown, cookies: readonly string[]): Response {
  return withCookies(jsonResponse(value), cookies)
}

export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

import { jsonResponse } from '../../server/answers/json.ts'
import type { Call } from '../../server/call.ts'
import { cookieValue } from '../../server/requests/cookies.ts'
import type { FormCall } from '../../server/requests/own-page.ts'
import { type Browser, sessionCookie } from './sign-in-terms.ts'

/** Token in the session cookie, or null. */
export function sessionToken({ site, request }: FormCall): string | null {
  return cookieValue(request, sessionCookie(site.publicUrl)) || null
}

export function browserOf({ request, address }: Pick<Call, 'request' | 'address'>): Browser {
  const { headers } = request
  return { cookies: headers.get('cookie') ?? '', userAgent: headers.get('user-agent'), address }
}

export function jsonWithCookies(value: unknown, cookies: readonly string[]): Response {
  return withCookies(jsonResponse(value), cookies)
}

export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

import { type AccountRow, findAccount } from '../../core/accounts.rows.ts'
import { recordSignIn } from '../../core/audit-log.ts'
import { hashToken } from '../../core/hmac.ts'
import type { Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { jsonResponse } from '../../server/answers/answers.ts'
import type { Call } from '../../server/call.ts'
import { cookieValue, type FormCall } from '../../server/requests/browser.ts'
import { insertSession } from './sessions.rows.ts'
import { accountDisabled, type ReauthenticationMethod } from './sessions.ts'
import { type Browser, COOKIE_LASTS, cookieFlags, SESSION_LASTS, sessionCookie } from './sign-in-terms.ts'

/** What a session starts from: a sign-in, or the session that it takes the place of. */
type SessionOrigin = ReauthenticationMethod | 'password and code' | 'present session'

/**
 * Starts a session, in the transaction that has verified the credentials, and logs the sign-in. Returns its
 * Set-Cookie header. Throws Refusal ACCOUNT_DISABLED.
 */
export type BeginSession = (
  trx: Trx,
  account: AccountId,
  browser: Browser,
  from: SessionOrigin,
) => Promise<string>

/** Maximum length of a stored User-Agent. */
const LONGEST_AGENT = 300

export function createSessionStart(parts: {
  clock: Clock
  random: Random
  publicUrl: () => string
}): BeginSession {
  const { clock, random, publicUrl } = parts
  return async (trx, account, { userAgent, address }, from) => {
    // Of several sign-ins at once, one is logged.
    await lockAccount(trx, account)
    const { username } = await enabledAccount(trx, account)
    const token = Buffer.from(random(24)).toString('base64url')
    const now = clock.now()
    await insertSession(trx, {
      account_id: account,
      token_hash: hashToken(token),
      user_agent: (userAgent ?? '').slice(0, LONGEST_AGENT),
      created_at: now,
      updated_at: now,
      expires_at: now + SESSION_LASTS,
    })
    if (from !== 'present session') {
      await recordSignIn(trx, clock, { kind: 'owner', account, username, address }, from)
    }
    return `${sessionCookie(publicUrl())}=${token}; Max-Age=${COOKIE_LASTS / SECOND}${cookieFlags(publicUrl())}`
  }
}

/** The account. Throws Refusal ACCOUNT_DISABLED. */
export async function enabledAccount(trx: Trx, account: AccountId): Promise<AccountRow> {
  const row = await findAccount(trx, account)
  if (row === undefined || row.disabled_at !== null) throw accountDisabled()
  return row
}

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

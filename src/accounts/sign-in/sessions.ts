import { type AccountRow, findAccount } from '../../core/accounts.rows.ts'
import { recordAuditEntry, recordSignIn } from '../../core/audit-log.ts'
import type { SessionCaller } from '../../core/callers.ts'
import type { Core } from '../../core/core.ts'
import { hashToken } from '../../core/hmac.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { SCOPES } from '../../domain/access.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId, SessionId } from '../../domain/ids.ts'
import { jsonResponse } from '../../server/answers/answers.ts'
import type { Call } from '../../server/call.ts'
import { cookieValue, type FormCall, setCookie, withCookies } from '../../server/requests/browser.ts'
import {
  dropEnded,
  endSession,
  endSessions,
  findSessionHolder,
  insertSession,
  listSessions,
  setSessionProved,
  setSessionUsed,
} from './sessions.rows.ts'

/** Validity of a re-authentication. */
export const REAUTHENTICATION_LASTS = 10 * MINUTE

/** Idle lifetime of a session. */
export const SESSION_LASTS = 30 * DAY

/** Absolute lifetime of a session. */
export const SESSION_ENDS = 90 * DAY

/** Longest lifetime that browsers grant a cookie (RFC 6265bis); the server decides when a session ends. */
const COOKIE_LASTS = 400 * DAY

/** What sign-in uses of a request. */
export type Browser = Pick<Call, 'request' | 'address'>

/** `__Host-`: browsers accept the cookie only from this exact host, over TLS. */
function cookieName(name: string, publicUrl: string): string {
  return `${publicUrl.startsWith('https:') ? '__Host-' : ''}holdfast.${name}`
}

/** Name of the session cookie. */
export function sessionCookie(publicUrl: string): string {
  return cookieName('session_token', publicUrl)
}

/** A cookie of signing in. */
export function signInCookie(name: string, publicUrl: () => string) {
  return {
    read: ({ request }: Browser): string | null => cookieValue(request, cookieName(name, publicUrl())),

    /** Set-Cookie header for so many milliseconds; 0 deletes the cookie. */
    write(value: string, lasts: number): string {
      const site = { publicUrl: publicUrl() }
      return setCookie(site, { name: cookieName(name, site.publicUrl), value, lasts })
    },
  }
}

export type ReauthenticationMethod = 'password' | 'passkey' | 'OpenID Connect'

export interface SessionInfo {
  readonly id: SessionId
  readonly userAgent: string | null
  readonly createdAt: number
  /** To the hour. */
  readonly lastUsedAt: number
  readonly isThis: boolean
}

const WRITTEN_EVERY = HOUR
const STEP = 500

/** Looked up at every request, so that an ended session is refused from the next request on. */
export function createSessions(db: Database, clock: Clock) {
  return {
    /** Throws Refusal NOT_SIGNED_IN, or ACCOUNT_DISABLED. */
    async authenticate(token: string, address: string): Promise<SessionCaller> {
      const holder = await findSessionHolder(db, hashToken(token))
      const now = clock.now()
      if (holder === undefined) throw signedOut()
      const ends = holder.created_at + SESSION_ENDS
      if (Math.min(holder.expires_at, ends) <= now) throw signedOut()
      if (holder.disabled_at !== null) throw accountDisabled()
      if (now - holder.updated_at >= WRITTEN_EVERY) {
        await setSessionUsed(db, holder.session, {
          updated_at: now,
          expires_at: Math.min(now + SESSION_LASTS, ends),
        })
      }
      const { account, username, session, is_admin, created_at, proved_at } = holder
      return {
        kind: 'account',
        account,
        username,
        by: {
          kind: 'session',
          session,
          isAdmin: is_admin === 1,
          provedAt: proved_at ?? created_at,
          address,
        },
        scopes: SCOPES,
        within: null,
        expiresAt: null,
      }
    },

    /** Audited only when the previous one no longer counts: at most once in ten minutes per session. */
    prove: ({ account, username, by }: SessionCaller, proof: ReauthenticationMethod): Promise<void> =>
      inTransaction(db, async (trx) => {
        const now = clock.now()
        await setSessionProved(trx, by.session, now)
        if (now < by.provedAt + REAUTHENTICATION_LASTS) return
        const owner = { kind: 'owner', account, username, address: by.address } as const
        await recordAuditEntry(trx, clock, owner, {
          act: 'identity.proved',
          object: username,
          details: { by: proof },
        })
      }),

    async list({ account, by }: SessionCaller): Promise<SessionInfo[]> {
      const rows = await listSessions(db, account, clock.now())
      return rows.map((row) => ({
        id: row.id,
        userAgent: row.user_agent,
        createdAt: row.created_at,
        lastUsedAt: row.updated_at,
        isThis: row.id === by.session,
      }))
    },

    /** May be the caller's own. Throws Refusal NOT_FOUND. */
    async end({ account }: SessionCaller, id: SessionId): Promise<void> {
      if (!(await endSession(db, account, id))) throw new Refusal('NOT_FOUND', 'There is no such session')
    },

    endOthers: ({ account, by }: SessionCaller): Promise<number> => endSessions(db, account, by.session),

    async dropEnded(mayGoOn: () => boolean): Promise<void> {
      while (mayGoOn() && (await dropEnded(db, clock.now(), STEP)) >= STEP);
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>

export function signedOut(): Refusal {
  return new Refusal('NOT_SIGNED_IN', 'You are signed out; sign in again')
}

export function accountDisabled(): Refusal {
  return new Refusal('ACCOUNT_DISABLED', 'This account is disabled; ask whoever runs this server')
}

/** What a session starts from: a sign-in, or the session that it takes the place of. */
type SessionOrigin = ReauthenticationMethod | 'password and code' | 'present session'

/** Maximum length of a stored User-Agent. */
const LONGEST_AGENT = 300

export function createSessionStart({
  clock,
  random,
  publicUrl,
}: Pick<Core, 'clock' | 'random' | 'publicUrl'>) {
  const cookie = signInCookie('session_token', publicUrl)

  return {
    /**
     * In the transaction that has verified the credentials; logs the sign-in. Returns the Set-Cookie header.
     * Throws Refusal ACCOUNT_DISABLED.
     */
    async begin(trx: Trx, account: AccountId, browser: Browser, from: SessionOrigin): Promise<string> {
      // Of several sign-ins at once, one is logged.
      await lockAccount(trx, account)
      const { username } = await enabledAccount(trx, account)
      const token = Buffer.from(random(24)).toString('base64url')
      const now = clock.now()
      await insertSession(trx, {
        account_id: account,
        token_hash: hashToken(token),
        user_agent: (browser.request.headers.get('user-agent') ?? '').slice(0, LONGEST_AGENT),
        created_at: now,
        updated_at: now,
        expires_at: now + SESSION_LASTS,
      })
      if (from !== 'present session') {
        await recordSignIn(trx, clock, { kind: 'owner', account, username, address: browser.address }, from)
      }
      return cookie.write(token, COOKIE_LASTS)
    },

    /** Set-Cookie header that clears the cookie; the session must have been ended before. */
    forget: (): string => cookie.write('', 0),
  }
}

export type SessionStart = ReturnType<typeof createSessionStart>

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

export function jsonWithCookies(value: unknown, cookies: readonly string[]): Response {
  return withCookies(jsonResponse(value), cookies)
}

import type { Config } from '../config.ts'
import { ACCOUNT_HEADER } from '../contract/account.ts'
import { type AccountCaller, assertScope, type Caller, type SessionCaller } from '../core/callers.ts'
import { type KeyVerdict, type RateLimits, takeForKey } from '../core/rate-limits/rate-limits.ts'
import type { Viewer } from '../domain/access.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Usage } from '../files/use-counters.ts'
import type { Authentication } from '../server/authentication.ts'
import { bearerKey, type Call, FOLDER_COOKIE } from '../server/call.ts'
import { assertOwnOrigin, cookieValue, isSafe, mayBeSignedIn } from '../server/requests/browser.ts'
import type { KeyedRequests } from './keys/keyed-requests.ts'
import type { Keys } from './keys/keys.ts'
import { sessionToken } from './sign-in/session-start.ts'
import { type Sessions, signedOut } from './sign-in/sessions.ts'
import { sessionCookie } from './sign-in/sign-in-terms.ts'

/** Dependencies of authentication. */
export interface AuthenticationNeeds {
  readonly config: Pick<Config, 'rateLimit' | 'accountRateFactor' | 'sessionRateLimit'>
  readonly rates: RateLimits
  readonly keys: Keys
  /** Where finding and counting a key are round trips. */
  readonly keyedRequests: KeyedRequests | null
  readonly sessions: Sessions
  readonly usage: Usage
  /** Set-Cookie headers that clear the session cookie. */
  forgetSession(): readonly string[]
  /** Folders that the cookie unlocks. */
  grants(cookie: string | null): Viewer['grants']
}

export function createAuthentication(needs: AuthenticationNeeds): Authentication {
  const { keys, usage } = needs
  const browsers = createBrowserSessions(needs)

  const callerOf = (call: Call) => authenticated(keys, browsers, call)

  async function counted(call: Call): Promise<AccountCaller> {
    const { keyedRequests } = needs
    let caller = keyedRequests === null ? null : await admitted(keyedRequests, call)
    if (caller === null) {
      caller = await callerOf(call)
      await countRequest(needs, call, caller)
    }
    usage.requested(caller)
    return caller
  }

  async function keyed(call: Call): Promise<AccountCaller> {
    const caller = await counted(call)
    assertNeed(call, caller)
    return caller
  }

  async function signedIn(call: Call): Promise<SessionCaller> {
    const caller = await browsers.ofApi(call)
    if (caller === null) throw signedOut()
    assertMeant(call, caller)
    await countRequest(needs, call, caller)
    return caller
  }

  return {
    keyed,
    signedIn,

    async administrator(call) {
      const { account, username, by } = await signedIn(call)
      if (!by.isAdmin) throw new Refusal('ADMIN_NEEDED', 'Only administrators of this server can do this')
      return { kind: 'administrator', account, username, address: call.address }
    },

    keyedOrGuest: async (call) => (isKnown(call) ? keyed(call) : asGuest(call)),
    keyOrGuest: async (call) => (call.request.headers.has('authorization') ? keyed(call) : asGuest(call)),
    count: (call) => unlessInvalid(call, counted),
    assertGoodKey: ({ request }) => assertGoodKey(needs, request),

    async ofBytes(call) {
      if (!isKnown(call)) return asGuest(call)
      const caller = await callerOf(call)
      await takeRate(needs, call, caller, 0)
      usage.used(caller)
      assertNeed(call, caller)
      return caller
    },

    isStillLetIn: (call) => refusedAs(call, false, async () => (await callerOf(call)) !== null),

    async requester(call) {
      const grants = needs.grants(cookieValue(call.request, FOLDER_COOKIE))
      const reach = await refusedAs(call, null, async () => {
        const key = bearerKey(call.request)
        const caller = key === null ? await browsers.ofPage(call) : await keys.authenticate(key)
        if (caller === null) return null
        call.caller = caller
        usage.used(caller)
        return caller.scopes.includes('read') ? caller : null
      })
      return { reach, grants }
    },

    pageSession: browsers.ofPage,
    sessionCookie,
    sendsSession: (call) => sessionToken(call) !== null,
    endSession: browsers.end,
  }
}

/** Authenticates by API key or, without an Authorization header, by session. */
async function authenticated(keys: Keys, browsers: BrowserSessions, call: Call): Promise<AccountCaller> {
  const key = bearerKey(call.request)
  const caller = key === null ? await browsers.ofApi(call) : await keys.authenticate(key)
  if (caller === null) {
    throw new Refusal('INVALID_API_KEY', 'An API key is needed: send it as "Authorization: Bearer <API key>"')
  }
  assertMeant(call, caller)
  return caller
}

async function assertGoodKey({ keys }: AuthenticationNeeds, request: Request): Promise<void> {
  if (!/^bearer\b/i.test(request.headers.get('authorization')?.trim() ?? '')) return
  const key = bearerKey(request)
  if (key !== null) await keys.authenticate(key)
}

/** Does nothing for a request without a valid key. Throws Refusal RATE_LIMITED. */
async function unlessInvalid(call: Call, count: (call: Call) => Promise<AccountCaller>): Promise<void> {
  if (!call.request.headers.has('authorization')) return
  try {
    await count(call)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'RATE_LIMITED') throw error
    call.refusal = error
  }
}

/** Whether it has credentials, valid or not. */
function isKnown(call: Call): boolean {
  return call.request.headers.has('authorization') || sessionToken(call) !== null
}

function asGuest(call: Call): Caller {
  assertMeant(call, null)
  const guest = { kind: 'guest', bucket: call.bucket } as const
  call.caller = guest
  return guest
}

/** Throws Refusal NOT_SIGNED_IN where the request is meant for another account, or for one and comes from a guest. */
function assertMeant({ request }: Call, caller: AccountCaller | null): void {
  const meant = request.headers.get(ACCOUNT_HEADER)
  if (meant !== null && meant !== String(caller?.account)) throw signedOut()
}

/** Checks the scope. A route that accepts keys without declaring a scope is a bug and fails for everybody. */
function assertNeed({ need }: Call, caller: AccountCaller): void {
  if (need === null) throw new Error('a route that accepts API keys declares no scope')
  if (need !== 'any') assertScope(caller, need)
}

/** The caller of a request with a key, counted; null for one without. */
async function admitted(keyedRequests: KeyedRequests, call: Call): Promise<AccountCaller | null> {
  const key = bearerKey(call.request)
  if (key === null) return null
  const { caller, verdict } = await keyedRequests.admit(key)
  assertMeant(call, caller)
  call.caller = caller
  call.rate = verdict
  if (!verdict.allowed) throw rateLimited(caller, verdict)
  return caller
}

/** Counts one request. Throws Refusal RATE_LIMITED. */
async function countRequest(needs: AuthenticationNeeds, call: Call, caller: AccountCaller): Promise<void> {
  const verdict = await takeRate(needs, call, caller, 1)
  if (!verdict.allowed) throw rateLimited(caller, verdict)
}

/** Counts `requests` for the caller and returns what is left of the rate limit. */
async function takeRate(
  { rates, config }: AuthenticationNeeds,
  call: Call,
  caller: AccountCaller,
  requests: 0 | 1,
): Promise<KeyVerdict> {
  const { account, by } = caller
  const { rateLimit: limit, accountRateFactor: factor, sessionRateLimit } = config
  call.caller = caller
  const verdict =
    by.kind === 'key'
      ? await takeForKey(rates, { key: by.key, account }, requests, { limit, factor })
      : { ...(await rates.take(`sessions:${account}`, requests, sessionRateLimit, HOUR)), ceiling: null }
  call.rate = verdict
  return verdict
}

function rateLimited({ by }: AccountCaller, { limit, resetsIn, ceiling }: KeyVerdict): Refusal {
  const who = ceiling !== null ? 'All keys of this account together' : by.kind === 'key' ? 'This key' : 'You'
  const most = ceiling ?? limit
  return new Refusal('RATE_LIMITED', `${who} may make ${most} requests an hour; try again later`, resetsIn)
}

/** Result of the work, or `otherwise` when it throws a Refusal. */
async function refusedAs<T>(call: Call, otherwise: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    call.refusal = error
    return otherwise
  }
}

interface BrowserSessions {
  /**
   * Null without a session cookie. Throws Refusal FOREIGN_ORIGIN for a change requested by another site, and
   * NOT_SIGNED_IN or ACCOUNT_DISABLED.
   */
  ofApi(call: Call): Promise<SessionCaller | null>
  /** An invalid session makes the caller anonymous. */
  ofPage(call: Call): Promise<SessionCaller | null>
  end(call: Call): Promise<void>
}

function createBrowserSessions({
  sessions,
  forgetSession,
}: {
  readonly sessions: Sessions
  forgetSession(): readonly string[]
}): BrowserSessions {
  async function ofApi(call: Call): Promise<SessionCaller | null> {
    const token = sessionToken(call)
    if (token === null) return null
    if (!isSafe(call.request.method)) assertOwnOrigin(call)
    else if (!mayBeSignedIn(call)) return null
    return sessions.authenticate(token, call.address)
  }

  return {
    ofApi,

    async ofPage(call) {
      try {
        const session = mayBeSignedIn(call) ? await ofApi(call) : null
        if (session !== null) call.caller = session
        return session
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        // Clears the cookie of an ended session: uploads from the page would be refused with it.
        if (error.code === 'NOT_SIGNED_IN') {
          for (const cookie of forgetSession()) call.headers.set('Set-Cookie', cookie)
        }
        return null
      }
    },

    async end(call) {
      const token = sessionToken(call)
      if (token === null) return
      const present = await sessions.authenticate(token, call.address).catch((error: unknown) => {
        if (error instanceof Refusal) return null
        throw error
      })
      if (present !== null) await sessions.end(present, present.by.session)
    },
  }
}

import { ACCOUNT_HEADER } from '../contract/account-header.ts'
import { type AccountCaller, assertScope, type Caller, type SessionCaller } from '../core/callers.ts'
import type { Core } from '../core/core.ts'
import { hashToken } from '../core/hmac.ts'
import { type KeyVerdict, takeForKey } from '../core/rate-limits/rate-limits.ts'
import type { Database } from '../database/database.ts'
import { lookup } from '../database/prepared.ts'
import { parseScopes, type Requester, type Viewer } from '../domain/access.ts'
import type { Administrator } from '../domain/audit.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal, wrongSecret } from '../domain/errors.ts'
import type { AccountId, FolderIdentifier, KeyId, Sha256 } from '../domain/ids.ts'
import type { Usage } from '../files/use-counters.ts'
import { bearerKey, type Call, FOLDER_COOKIE } from '../server/call.ts'
import { assertOwnOrigin, cookieValue, isSafe, mayBeSignedIn } from '../server/requests/browser.ts'
import { accountDisabled, sessionCookie, sessionToken, signedOut } from './sign-in/sessions.ts'
import type { SignInModule } from './sign-in.module.ts'

export type Authentication = ReturnType<typeof createAuthentication>

/** Stores caller and remaining rate limit in the call. */
export function createAuthentication({
  db,
  clock,
  rates,
  config,
  keyedRequests,
  signIn,
  usage,
  grants,
}: Pick<Core, 'db' | 'clock' | 'rates'> & {
  readonly config: Pick<Core['config'], 'rateLimit' | 'accountRateFactor' | 'sessionRateLimit'>
  /** Finds and counts a key in one statement, where these are round trips. */
  readonly keyedRequests: { admit(secret: string): Promise<AdmittedKey> } | null
  readonly signIn: Pick<SignInModule, 'sessions' | 'forget'>
  readonly usage: Usage
  /** Folders that the cookie unlocks. */
  grants(cookie: string | null): Viewer['grants']
}) {
  const { sessions } = signIn
  const keys = createKeyHolders(db, clock)

  /**
   * Null without a session cookie. Throws Refusal FOREIGN_ORIGIN for a change requested by another site, and
   * NOT_SIGNED_IN or ACCOUNT_DISABLED.
   */
  async function sessionOf(call: Call): Promise<SessionCaller | null> {
    const token = sessionToken(call)
    if (token === null) return null
    if (!isSafe(call.request.method)) assertOwnOrigin(call)
    else if (!mayBeSignedIn(call)) return null
    return sessions.authenticate(token, call.address)
  }

  /** An invalid session makes the caller anonymous. */
  async function pageSession(call: Call): Promise<SessionCaller | null> {
    try {
      const session = mayBeSignedIn(call) ? await sessionOf(call) : null
      if (session !== null) call.caller = session
      return session
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // Clears the cookie of an ended session: uploads from the page would be refused with it.
      if (error.code === 'NOT_SIGNED_IN') {
        for (const cookie of signIn.forget()) call.headers.set('Set-Cookie', cookie)
      }
      return null
    }
  }

  /** By API key or, without an Authorization header, by session. */
  async function callerOf(call: Call): Promise<AccountCaller> {
    const key = bearerKey(call.request)
    const caller = key === null ? await sessionOf(call) : await keys.authenticate(key)
    if (caller === null) {
      throw new Refusal(
        'INVALID_API_KEY',
        'An API key is needed: send it as "Authorization: Bearer <API key>"',
      )
    }
    assertMeant(call, caller)
    return caller
  }

  /** Counts `requests` for the caller. */
  async function takeRate(call: Call, caller: AccountCaller, requests: 0 | 1): Promise<KeyVerdict> {
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

  /** Throws Refusal RATE_LIMITED. */
  async function countRequest(call: Call, caller: AccountCaller): Promise<void> {
    assertWithinRate(caller, await takeRate(call, caller, 1))
  }

  /** The caller of a request with a key, counted; null for one without, and where keys are in memory. */
  async function admitted(call: Call): Promise<AccountCaller | null> {
    const key = keyedRequests === null ? null : bearerKey(call.request)
    if (keyedRequests === null || key === null) return null
    const { caller, verdict } = await keyedRequests.admit(key)
    assertMeant(call, caller)
    call.caller = caller
    call.rate = verdict
    assertWithinRate(caller, verdict)
    return caller
  }

  async function counted(call: Call): Promise<AccountCaller> {
    let caller = await admitted(call)
    if (caller === null) {
      caller = await callerOf(call)
      await countRequest(call, caller)
    }
    usage.requested(caller)
    return caller
  }

  /** Throws Refusal INVALID_API_KEY, NOT_SIGNED_IN, FOREIGN_ORIGIN, ACCOUNT_DISABLED, RATE_LIMITED, SCOPE_MISSING. */
  async function keyed(call: Call): Promise<AccountCaller> {
    const caller = await counted(call)
    assertNeed(call, caller)
    return caller
  }

  /** Session only. Throws Refusal NOT_SIGNED_IN, FOREIGN_ORIGIN, ACCOUNT_DISABLED or RATE_LIMITED. */
  async function signedIn(call: Call): Promise<SessionCaller> {
    const caller = await sessionOf(call)
    if (caller === null) throw signedOut()
    assertMeant(call, caller)
    await countRequest(call, caller)
    return caller
  }

  return {
    keyed,
    signedIn,

    /** `signedIn`; also throws Refusal ADMIN_NEEDED. */
    async administrator(call: Call): Promise<Administrator> {
      const { account, username, by } = await signedIn(call)
      if (!by.isAdmin) throw new Refusal('ADMIN_NEEDED', 'Only administrators of this server can do this')
      return { kind: 'administrator', account, username, address: call.address }
    },

    /** An invalid key or expired session never counts as a guest. */
    keyedOrGuest: async (call: Call): Promise<Caller> => (isKnown(call) ? keyed(call) : asGuest(call)),

    /** Ignores cookies. */
    keyOrGuest: async (call: Call): Promise<Caller> =>
      call.request.headers.has('authorization') ? keyed(call) : asGuest(call),

    /**
     * Counts a valid key where the route needs none: unknown address, wrong method, public or session routes. Ignores
     * other Authorization headers. Throws Refusal RATE_LIMITED.
     */
    async count(call: Call): Promise<void> {
      if (!call.request.headers.has('authorization')) return
      try {
        await counted(call)
      } catch (error) {
        if (!(error instanceof Refusal) || error.code === 'RATE_LIMITED') throw error
        call.refusal = error
      }
    },

    /**
     * For routes where a valid key changes nothing: a client with a bad key believes to act for its account. Throws
     * Refusal INVALID_API_KEY or ACCOUNT_DISABLED. Leaves other schemes to the route.
     */
    async assertGoodKey({ request }: Call): Promise<void> {
      if (!/^bearer\b/i.test(request.headers.get('authorization')?.trim() ?? '')) return
      const key = bearerKey(request)
      if (key !== null) await keys.authenticate(key)
    },

    /** `keyedOrGuest` without rate limit, for the many requests with bytes of an upload. */
    async ofBytes(call: Call): Promise<Caller> {
      if (!isKnown(call)) return asGuest(call)
      const caller = await callerOf(call)
      await takeRate(call, caller, 0)
      usage.used(caller)
      assertNeed(call, caller)
      return caller
    },

    /** For long-lived responses; not counted. */
    isStillLetIn: (call: Call): Promise<boolean> =>
      refusedAs(call, false, async () => (await callerOf(call)) !== null),

    /** A key that is invalid or lacks the read scope makes the caller anonymous. */
    async requester(call: Call): Promise<Requester> {
      const unlocked = grants(cookieValue(call.request, FOLDER_COOKIE))
      const reach = await refusedAs(call, null, async () => {
        const key = bearerKey(call.request)
        const caller = key === null ? await pageSession(call) : await keys.authenticate(key)
        if (caller === null) return null
        call.caller = caller
        usage.used(caller)
        return caller.scopes.includes('read') ? caller : null
      })
      return { reach, grants: unlocked }
    },

    pageSession,
    sessionCookie,
    /** Valid or not. */
    sendsSession: (call: Call): boolean => sessionToken(call) !== null,

    async endSession(call: Call): Promise<void> {
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

/** Throws Refusal RATE_LIMITED. */
function assertWithinRate({ by }: AccountCaller, { allowed, limit, resetsIn, ceiling }: KeyVerdict): void {
  if (allowed) return
  const who = ceiling !== null ? 'All keys of this account together' : by.kind === 'key' ? 'This key' : 'You'
  const most = ceiling ?? limit
  throw new Refusal('RATE_LIMITED', `${who} may make ${most} requests an hour; try again later`, resetsIn)
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

export interface AdmittedKey {
  readonly caller: AccountCaller
  readonly verdict: KeyVerdict
}

/** Row of a key that was not revoked; it may have expired. */
export interface KeyHolder {
  readonly key: KeyId
  readonly account: AccountId
  readonly username: string
  readonly disabled_at: number | null
  readonly scopes: string
  readonly folder: FolderIdentifier | null
  readonly expires_at: number | null
}

const keyHolder = lookup<Sha256, KeyHolder & { readonly hash: Sha256 }>({
  column: 'api_keys.hash',
  build: (db, isWanted) =>
    db
      .selectFrom('api_keys')
      // A subquery instead of a join, which SQLite would plan anew each time.
      .select((key) => {
        const holder = key.selectFrom('accounts').whereRef('accounts.id', '=', 'api_keys.account_id')
        return [
          'api_keys.id as key',
          'api_keys.hash',
          'api_keys.account_id as account',
          holder.select('accounts.username').$asScalar().$notNull().as('username'),
          holder.select('accounts.disabled_at').as('disabled_at'),
          'api_keys.scopes',
          'api_keys.folder',
          'api_keys.expires_at',
        ]
      })
      .where(isWanted)
      .where('api_keys.revoked_at', 'is', null),
  valueIn: (row) => row.hash,
})

const MOST_HOLDERS = 10_000

/**
 * Cache of key holders, invalidated by any commit to the database: a key revoked by another process, such as
 * the command line, is refused from the next request on.
 */
export function createKeyHolders(db: Database, clock: Core['clock']) {
  const holders = new Map<string, Holder>()
  let version: number | null = null

  /** The cached holder; undefined when the database must be queried. */
  function known(secret: string): Holder | undefined {
    const present = db.read.version()
    if (present === null || present !== version || holders.size > MOST_HOLDERS) holders.clear()
    version = present
    return holders.get(secret)
  }

  async function find(secret: string): Promise<Holder | undefined> {
    const asked = version
    const row = await keyHolder(db, hashToken(secret))
    if (row === undefined) return undefined
    const holder = holderOf(row)
    // Not cached if anything was committed meanwhile, which may have changed the holder.
    if (version !== null && version === asked) holders.set(secret, holder)
    return holder
  }

  return {
    /** Throws Refusal INVALID_API_KEY, or ACCOUNT_DISABLED. */
    async authenticate(secret: string): Promise<AccountCaller> {
      const holder = known(secret) ?? (await find(secret))
      if (holder === undefined) throw unknownKey()
      return usableCaller(holder, clock.now())
    },
  }
}

interface Holder {
  readonly caller: AccountCaller
  readonly disabledAt: number | null
}

export function holderOf(row: KeyHolder): Holder {
  const caller: AccountCaller = {
    kind: 'account',
    account: row.account,
    username: row.username,
    by: { kind: 'key', key: row.key },
    scopes: parseScopes(row.scopes),
    within: row.folder,
    expiresAt: row.expires_at,
  }
  return { caller, disabledAt: row.disabled_at }
}

/** The caller that the key authenticates now. Throws Refusal INVALID_API_KEY, or ACCOUNT_DISABLED. */
export function usableCaller({ disabledAt, caller }: Holder, now: number): AccountCaller {
  if (caller.expiresAt !== null && caller.expiresAt <= now) {
    throw wrongSecret('INVALID_API_KEY', 'The API key has expired; make a new one', 'key')
  }
  if (disabledAt !== null) throw accountDisabled()
  return caller
}

export function unknownKey(): Refusal {
  return wrongSecret('INVALID_API_KEY', 'The API key is unknown or was revoked', 'key')
}

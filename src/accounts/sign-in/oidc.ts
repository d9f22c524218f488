import * as z from 'zod'
import type { OidcConfig } from '../../config/setting-groups.ts'
import type { SessionCaller } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import { isLoopback } from '../../core/unknown-proxies.ts'
import type { Database } from '../../database/database.ts'
import { isDatabaseFailure } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import { findPassword, findSubject, hasSubject } from './identities.rows.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { OidcExchange, OidcPerson, OidcSecrets } from './oidc-exchange.ts'
import type { BeginSession } from './session-start.ts'
import type { Sessions } from './sessions.ts'
import { type Browser, browserCookie, cookieFlags, cookiePrefix, OIDC_CALLBACK } from './sign-in-terms.ts'
import type { SubjectAccounts } from './subject-accounts.ts'

/** A redirect, and the cookies to set with it. */
export interface Onward {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Sign-in through an OpenID Connect provider. */
export interface Oidc {
  /** Whether the caller's account is linked to the configured provider. */
  knows(caller: SessionCaller): Promise<boolean>
  /**
   * Redirects to the provider. `next`: path on this site to return to. `proves`: session that is
   * re-authenticated; null for a new session. Throws Refusal NOT_FOUND when no provider is configured,
   * NOT_IDENTIFIED when it does not respond, and RATE_LIMITED.
   */
  begin(next: string, bucket: string, proves: SessionCaller | null): Promise<Onward>
  /**
   * Handles the callback: starts a new session or re-authenticates the current one. Throws Refusal
   * NOT_IDENTIFIED, SIGN_UP_CLOSED, ACCOUNT_DISABLED or RATE_LIMITED.
   */
  finish(
    browser: Browser,
    search: string,
    bucket: string,
    present: SessionCaller | null,
  ): Promise<Onward & { readonly isNewSession: boolean }>
}

/** Time limit for the sign-in at the provider. */
const MAY_TAKE = 10 * MINUTE

const PURPOSE = 'oidc'

const underWay = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  begunAt: z.number(),
  next: z.string(),
  /** Session that is re-authenticated; null for a new session. */
  proves: z.number().nullable(),
  ends: z.number(),
})

/** The configuration, or null where people's passwords would be sent unencrypted. */
export function usableOidc(config: OidcConfig | null, warn: (message: string) => void): OidcConfig | null {
  if (config === null) return null
  const address = new URL(config.issuer)
  if (address.protocol === 'https:' || isLoopback(address)) return config
  warn(
    `signing in with ${config.name} is off: HOLDFAST_OIDC_ISSUER has to begin with https:// unless that server is on this machine`,
  )
  return null
}

export function createOidc(parts: {
  db: Database
  signing: Signing
  clock: Clock
  sessions: Sessions
  subjectAccounts: SubjectAccounts
  knownBrowsers: KnownBrowsers
  beginSession: BeginSession
  otherServer: OidcProvider
  publicUrl: () => string
}): Oidc {
  const { db, signing, clock, subjectAccounts, knownBrowsers, otherServer, publicUrl } = parts
  const cookieName = () => `${cookiePrefix(publicUrl())}.oidc`
  const cookie = (value: string, seconds: number) =>
    `${cookieName()}=${value}; Max-Age=${seconds}${cookieFlags(publicUrl())}`

  function read(browser: Browser): z.infer<typeof underWay> {
    const value = browserCookie(browser, cookieName())
    const found = value === null ? null : underWay.safeParse(signing.verify(PURPOSE, value))
    if (found?.success !== true || found.data.ends <= clock.now()) throw notIdentified()
    return found.data
  }

  async function accountOf(person: OidcPerson): Promise<AccountId> {
    const present = await findSubject(db, person.subject)
    if (present !== null) return present
    await subjectAccounts.ensure(person.subject, await person.preferredName())
    const joined = await findSubject(db, person.subject)
    if (joined === null) throw notIdentified()
    return joined
  }

  async function signIn(browser: Browser, account: AccountId): Promise<readonly string[]> {
    const session = await inTransaction(db, (trx) =>
      parts.beginSession(trx, account, browser, 'OpenID Connect'),
    )
    return [session, ...knownBrowsers.remember(browser, account, await findPassword(db, account))]
  }

  return {
    knows: async ({ account }) => otherServer.isSet && (await hasSubject(db, account)),

    begin: (next, bucket, proves) =>
      otherServer.ask(bucket, 'oidc', async (other) => {
        const { address, secrets } = await other.begin(publicUrl() + OIDC_CALLBACK, proves !== null)
        const ends = clock.now() + MAY_TAKE
        const kept = { ...secrets, next, proves: proves?.by.session ?? null, ends }
        return { location: address, cookies: [cookie(signing.sign(PURPOSE, kept), MAY_TAKE / SECOND)] }
      }),

    finish: (browser, search, bucket, present) =>
      otherServer.ask(bucket, 'oidc-back', async (other) => {
        const { next, proves, ends: _, ...secrets } = read(browser)
        const answer = new URL(publicUrl() + OIDC_CALLBACK + search)
        const person = await other.finish(answer, secrets satisfies OidcSecrets, proves !== null)
        const over = cookie('', 0)
        if (proves !== null) {
          await prove(parts, person, present, proves)
          return { location: next, cookies: [over], isNewSession: false }
        }
        const cookies = await signIn(browser, await accountOf(person))
        return { location: next, cookies: [...cookies, over], isNewSession: true }
      }),
  }
}

/** Rejects the sign-in of another person, and one that another session has requested. */
async function prove(
  { db, sessions }: { readonly db: Database; readonly sessions: Sessions },
  person: OidcPerson,
  present: SessionCaller | null,
  proves: number,
): Promise<void> {
  if (present === null || present.by.session !== proves) throw notIdentified()
  if ((await findSubject(db, person.subject)) !== present.account) {
    throw new Refusal(
      'NOT_IDENTIFIED',
      'That sign-in belongs to another account; use the one of this account',
    )
  }
  await sessions.prove(present, 'OpenID Connect')
}

/** Rate-limited access to the OpenID Connect provider. */
interface OidcProvider {
  /** Whether a provider is configured. */
  readonly isSet: boolean
  /**
   * Runs the exchange. Throws Refusal NOT_FOUND when no provider is configured, RATE_LIMITED, SERVER_BUSY
   * when all together are too many, and NOT_IDENTIFIED for any failure of the exchange. `step`: the rate window
   * within the address.
   */
  ask<T>(bucket: string, step: string, work: (exchange: OidcExchange) => Promise<T>): Promise<T>
}

/**
 * Sign-ins that an address may begin, and may end, in a quarter of an hour: each sends requests to the
 * provider. A school begins its day behind one address.
 */
const BY_ADDRESS = 300
/** Concurrent sign-ins that wait for the provider. */
const AT_ONCE = 50

const TOO_MANY = 'Too many tries to sign in; wait a while and try again'
const TOO_MANY_OF_ALL = 'Too many people are signing in; try again in a few seconds'

export function createOidcProvider(parts: {
  rates: RateLimits
  /** Null where no provider is configured. */
  exchange: OidcExchange | null
  /** Logs for the operator why the sign-in failed. */
  report: (reason: string) => void
}): OidcProvider {
  const { rates, exchange, report } = parts
  let running = 0

  return {
    isSet: exchange !== null,

    async ask(bucket, step, work) {
      if (exchange === null)
        throw new Refusal('NOT_FOUND', 'This server offers no way to sign in by another server')
      if (running >= AT_ONCE) throw new Refusal('SERVER_BUSY', TOO_MANY_OF_ALL, 5)
      running++
      try {
        await countTry(
          rates,
          [{ subject: `${step}:${bucket}`, limit: BY_ADDRESS, length: 15 * MINUTE }],
          TOO_MANY,
        )
        return await work(exchange)
      } catch (error) {
        if (error instanceof Refusal || isDatabaseFailure(error)) throw error
        report(reasonOf(error))
        throw isAboutCaller(error) ? notIdentified('sign-in') : notIdentified()
      } finally {
        running--
      }
    },
  }
}

/** Messages of an error and its causes, without the tokens that the errors hold. */
function reasonOf(error: unknown): string {
  const reasons: string[] = []
  for (let each = error; each instanceof Error && reasons.length < 5; each = each.cause)
    reasons.push(each.message)
  return reasons.join(': ')
}

/** Whether the provider answered, and not with what the caller claims: not for one that is away, or fails. */
function isAboutCaller(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REFUSED.some((code) => code === error.code)
}

/** Codes of openid-client: errors of the provider, and answers that are of another sign-in. */
const REFUSED = [
  'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
  'OAUTH_RESPONSE_BODY_ERROR',
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
] as const

/** `tried`: where the caller claimed to be somebody; absent where nothing was claimed. */
function notIdentified(tried?: 'sign-in'): Refusal {
  const message = 'The other server did not say who you are; try again, or sign in another way'
  return tried === undefined
    ? new Refusal('NOT_IDENTIFIED', message)
    : wrongSecret('NOT_IDENTIFIED', message, tried)
}

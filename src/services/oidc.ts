import * as z from 'zod'
import type { OidcConfig } from '../config.ts'
import { isDatabaseFailure } from '../database/differences.ts'
import { findPassword, findSubject, hasSubject } from '../database/identities.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import { type Auth, type Browser, browserHeaders, withoutSession } from './auth.ts'
import type { SessionCaller } from './caller.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { isLoopback } from './loopback.ts'
import type { OidcExchange, OidcPerson, OidcSecrets } from './oidc-exchange.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Sessions } from './sessions.ts'
import type { SignUp } from './sign-up.ts'
import type { Signing } from './signing.ts'
import { browserCookie, cookieFlags, cookiePrefix, OIDC_CALLBACK, sessionCookie } from './signing-in-terms.ts'
import { countTry } from './tries.ts'

/** Where to go next, and the cookies for it. */
export interface Onward {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Signing in by way of an OpenID Connect server. */
export interface Oidc {
  /** Whether the caller's account can be signed in to by way of the server that is set. */
  knows(caller: SessionCaller): Promise<boolean>
  /**
   * On to the other server. `next`: path on this site to come back to. `proves`: the session whose person is to sign in
   * there once more; null for a new session. Throws Refusal NOT_FOUND when no server is set, NOT_IDENTIFIED when it does not
   * answer, and RATE_LIMITED.
   */
  begin(next: string, bucket: string, proves: SessionCaller | null): Promise<Onward>
  /**
   * What the other server sent somebody back with: a new session, or the proof of the present one. Throws Refusal
   * NOT_IDENTIFIED, SIGN_UP_CLOSED, ACCOUNT_DISABLED or RATE_LIMITED.
   */
  finish(
    browser: Browser,
    search: string,
    bucket: string,
    present: SessionCaller | null,
  ): Promise<Onward & { readonly isNewSession: boolean }>
}

/** Sign-ins that an address begins, and ends, in a quarter of an hour: each asks the other server. */
const BY_ADDRESS = 60
/** Sign-ins for which the other server is asked at the same time. */
const AT_ONCE = 50
/** How long somebody may take there. */
const MAY_TAKE = 10 * MINUTE

const TOO_MANY = 'Too many tries to sign in; wait a while and try again'
const PURPOSE = 'oidc'

const underWay = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  begunAt: z.number(),
  next: z.string(),
  /** The session that is to be proved. */
  proves: z.number().nullable(),
  ends: z.number(),
})

/** The setting, or null where passwords of people would travel in the clear. */
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
  db: Db
  auth: Auth
  rates: RateLimits
  signing: Signing
  clock: Clock
  sessions: Sessions
  signUp: Pick<SignUp, 'joinBySubject'>
  knownBrowsers: KnownBrowsers
  /** Null where no server is set. */
  exchange: OidcExchange | null
  publicUrl: () => string
  /** Tells the operator why nobody was identified. */
  report: (reason: string) => void
}): Oidc {
  const { db, auth, rates, signing, clock, sessions, signUp, knownBrowsers, exchange, publicUrl, report } =
    parts
  const cookieName = () => `${cookiePrefix(publicUrl())}.oidc`
  const cookie = (value: string, seconds: number) =>
    `${cookieName()}=${value}; Max-Age=${seconds}${cookieFlags(publicUrl())}`
  let running = 0

  async function asked<T>(
    bucket: string,
    step: string,
    work: (exchange: OidcExchange) => Promise<T>,
  ): Promise<T> {
    if (exchange === null)
      throw new Refusal('NOT_FOUND', 'This server offers no way to sign in by another server')
    await countTry(
      rates,
      [{ subject: `${step}:${bucket}`, limit: BY_ADDRESS, length: 15 * MINUTE }],
      TOO_MANY,
    )
    if (running >= AT_ONCE) throw new Refusal('RATE_LIMITED', TOO_MANY, 5)
    running++
    try {
      return await work(exchange)
    } catch (error) {
      if (error instanceof Refusal || isDatabaseFailure(error)) throw error
      report(reasonOf(error))
      throw notIdentified()
    } finally {
      running--
    }
  }

  function read(browser: Browser): z.infer<typeof underWay> {
    const value = browserCookie(browser, cookieName())
    const found = value === null ? null : underWay.safeParse(signing.verify(PURPOSE, value))
    if (found?.success !== true || found.data.ends <= clock.now()) throw notIdentified()
    return found.data
  }

  async function accountOf(person: OidcPerson): Promise<AccountId> {
    const present = await findSubject(db, person.subject)
    if (present !== null) return present
    await signUp.joinBySubject(person.subject, await person.preferredName())
    const joined = await findSubject(db, person.subject)
    if (joined === null) throw notIdentified()
    return joined
  }

  async function beginSession(browser: Browser, account: AccountId): Promise<readonly string[]> {
    const { api } = await auth()
    const headers = browserHeaders(withoutSession(browser, sessionCookie(publicUrl())))
    const begun = await api.beginSession({ body: { account: String(account) }, headers, returnHeaders: true })
    const remembered = knownBrowsers.remember(browser, account, await findPassword(db, account))
    return [...begun.headers.getSetCookie(), ...remembered]
  }

  /** Another person's sign-in proves nothing, and neither does one that another session has asked for. */
  async function prove(person: OidcPerson, present: SessionCaller | null, proves: number): Promise<void> {
    if (present === null || present.by.session !== proves) throw notIdentified()
    if ((await findSubject(db, person.subject)) !== present.account) {
      throw new Refusal(
        'NOT_IDENTIFIED',
        'That sign-in belongs to another account; use the one of this account',
      )
    }
    await sessions.prove(present)
  }

  return {
    knows: async ({ account }) => exchange !== null && (await hasSubject(db, account)),

    begin: (next, bucket, proves) =>
      asked(bucket, 'oidc', async (other) => {
        const { address, secrets } = await other.begin(publicUrl() + OIDC_CALLBACK, proves !== null)
        const ends = clock.now() + MAY_TAKE
        const kept = { ...secrets, next, proves: proves?.by.session ?? null, ends }
        return { location: address, cookies: [cookie(signing.sign(PURPOSE, kept), MAY_TAKE / SECOND)] }
      }),

    finish: (browser, search, bucket, present) =>
      asked(bucket, 'oidc-back', async (other) => {
        const { next, proves, ends: _, ...secrets } = read(browser)
        const answer = new URL(publicUrl() + OIDC_CALLBACK + search)
        const person = await other.finish(answer, secrets satisfies OidcSecrets, proves !== null)
        const over = cookie('', 0)
        if (proves !== null) {
          await prove(person, present, proves)
          return { location: next, cookies: [over], isNewSession: false }
        }
        const cookies = await beginSession(browser, await accountOf(person))
        return { location: next, cookies: [...cookies, over], isNewSession: true }
      }),
  }
}

/** What the library says is wrong, without the tokens that its errors hold. */
function reasonOf(error: unknown): string {
  const reasons: string[] = []
  for (let each = error; each instanceof Error && reasons.length < 5; each = each.cause)
    reasons.push(each.message)
  return reasons.join(': ')
}

function notIdentified(): Refusal {
  return new Refusal(
    'NOT_IDENTIFIED',
    'The other server did not say who you are; try again, or sign in another way',
  )
}

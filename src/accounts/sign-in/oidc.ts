import type { Configuration, CustomFetch, IDToken } from 'openid-client'
import * as z from 'zod'
import type { OidcConfig } from '../../config.ts'
import { insertAccount } from '../../core/accounts.rows.ts'
import type { SessionCaller } from '../../core/callers.ts'
import type { Core } from '../../core/core.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import { isLoopback } from '../../core/unknown-proxies.ts'
import type { Database, Trx } from '../../database/database.ts'
import { isDatabaseFailure, isUniqueViolation } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { webAddress } from '../../domain/addresses.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { assertOpen } from '../one-time-links.ts'
import { findPassword } from './passwords.ts'
import { type Browser, type SessionStart, type Sessions, signInCookie } from './sessions.ts'
import type { KnownBrowsers } from './sign-in.ts'

/** A redirect, and the cookies to set with it. */
export interface Onward {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Callback path for OpenID Connect, as registered at the provider. */
export const OIDC_CALLBACK = '/sign-in/oauth2/callback/oidc'

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

/** Sign-in through an OpenID Connect provider. */
export function createOidc(
  core: AccountMaker & Pick<Core, 'signing' | 'publicUrl'>,
  {
    sessions,
    knownBrowsers,
    sessionStart,
    otherServer,
  }: {
    readonly sessions: Sessions
    readonly knownBrowsers: KnownBrowsers
    readonly sessionStart: SessionStart
    readonly otherServer: OidcProvider
  },
) {
  const { db, signing, clock, publicUrl } = core
  const cookie = signInCookie('oidc', publicUrl)

  function read(browser: Browser): z.infer<typeof underWay> {
    const value = cookie.read(browser)
    const found = value === null ? null : underWay.safeParse(signing.verify(PURPOSE, value))
    if (found?.success !== true || found.data.ends <= clock.now()) throw notIdentified()
    return found.data
  }

  async function accountOf(person: OidcPerson): Promise<AccountId> {
    const present = await findSubject(db, person.subject)
    if (present !== null) return present
    await ensureAccount(core, person.subject, await person.preferredName())
    const joined = await findSubject(db, person.subject)
    if (joined === null) throw notIdentified()
    return joined
  }

  async function signIn(browser: Browser, account: AccountId): Promise<readonly string[]> {
    const session = await inTransaction(db, (trx) =>
      sessionStart.begin(trx, account, browser, 'OpenID Connect'),
    )
    return [session, ...knownBrowsers.remember(browser, account, await findPassword(db, account))]
  }

  return {
    /** Whether the caller's account is linked to the configured provider. */
    knows: async ({ account }: SessionCaller): Promise<boolean> =>
      otherServer.isSet && (await hasSubject(db, account)),

    /**
     * Redirects to the provider. `next`: path on this site to return to. `proves`: session that is
     * re-authenticated; null for a new session. Throws Refusal NOT_FOUND when no provider is configured,
     * NOT_IDENTIFIED when it does not respond, and RATE_LIMITED.
     */
    begin: (next: string, bucket: string, proves: SessionCaller | null): Promise<Onward> =>
      otherServer.ask(bucket, 'oidc', async (other) => {
        const { address, secrets } = await other.begin(publicUrl() + OIDC_CALLBACK, proves !== null)
        const ends = clock.now() + MAY_TAKE
        const kept = { ...secrets, next, proves: proves?.by.session ?? null, ends }
        return { location: address, cookies: [cookie.write(signing.sign(PURPOSE, kept), MAY_TAKE)] }
      }),

    /**
     * Handles the callback: starts a new session or re-authenticates the current one. Throws Refusal
     * NOT_IDENTIFIED, SIGN_UP_CLOSED, ACCOUNT_DISABLED or RATE_LIMITED.
     */
    finish: (
      browser: Browser,
      search: string,
      bucket: string,
      present: SessionCaller | null,
    ): Promise<Onward & { readonly isNewSession: boolean }> =>
      otherServer.ask(bucket, 'oidc-back', async (other) => {
        const { next, proves, ends: _, ...secrets } = read(browser)
        const answer = new URL(publicUrl() + OIDC_CALLBACK + search)
        const person = await other.finish(answer, secrets satisfies OidcSecrets, proves !== null)
        const over = cookie.write('', 0)
        if (proves !== null) {
          await prove(db, sessions, person, present, proves)
          return { location: next, cookies: [over], isNewSession: false }
        }
        const cookies = await signIn(browser, await accountOf(person))
        return { location: next, cookies: [...cookies, over], isNewSession: true }
      }),
  }
}

/** Rejects the sign-in of another person, and one that another session has requested. */
async function prove(
  db: Database,
  sessions: Sessions,
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

export interface OidcSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Seconds since the epoch. */
  readonly begunAt: number
}

export interface OidcPerson {
  readonly subject: string
  /** Empty when the provider names none. Requests user info when the ID token lacks it. */
  preferredName(): Promise<string>
}

const ANSWERS_WITHIN = 5 * SECOND
/** Bytes, many times the size of discovery and keys. */
const LONGEST_ANSWER = 256 * 1024
const KNOWN_FOR = HOUR
/** Tolerated clock difference in seconds. */
const CLOCKS_DIFFER = MINUTE / SECOND

/**
 * OpenID Connect's authorization code flow with PKCE. The library checks signature, issuer, audience, time
 * and nonce of ID tokens. Every method throws when the provider fails or violates the specification.
 */
export function createOidcExchange(config: OidcConfig, monotonic: () => number) {
  let known: { readonly from: Promise<Configuration>; readonly since: number } | null = null

  /** Concurrent callers share one request, so that a hanging provider gets one at a time. */
  function discovered(): Promise<Configuration> {
    const now = monotonic()
    if (known !== null && now - known.since < KNOWN_FOR) return known.from
    const asked = { from: discover(config), since: now }
    known = asked
    asked.from.catch(() => {
      if (known === asked) known = null
    })
    return asked.from
  }

  return {
    /** `again`: the provider must authenticate the person even if it has a session. */
    async begin(
      redirect: string,
      again: boolean,
    ): Promise<{ readonly address: string; readonly secrets: OidcSecrets }> {
      const client = await import('openid-client')
      const found = await discovered()
      const secrets = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        begunAt: seconds(),
      }
      const { href } = client.buildAuthorizationUrl(found, {
        redirect_uri: redirect,
        scope: 'openid profile',
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
        ...(again ? { prompt: 'login', max_age: '0' } : {}),
      })
      return { address: href, secrets }
    },

    /** `answer`: the callback address with its query. Also throws when `again` was not honoured. */
    async finish(
      answer: URL,
      { state, nonce, verifier, begunAt }: OidcSecrets,
      again: boolean,
    ): Promise<OidcPerson> {
      const client = await import('openid-client')
      const found = await discovered()
      const tokens = await client.authorizationCodeGrant(found, answer, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the token endpoint sent no ID token')
      if (again) assertAskedAgain(claims, begunAt)
      return {
        subject: claims.sub,
        async preferredName() {
          if (typeof claims.preferred_username === 'string') return claims.preferred_username
          if (found.serverMetadata().userinfo_endpoint === undefined) return ''
          const said = await client.fetchUserInfo(found, tokens.access_token, claims.sub)
          return said.preferred_username ?? ''
        },
      }
    },
  }
}

export type OidcExchange = ReturnType<typeof createOidcExchange>

/** A response to `max_age` must have `auth_time`, but some providers omit it: checked where present. */
function assertAskedAgain({ auth_time: at }: IDToken, begunAt: number): void {
  if (at !== undefined && at < begunAt - CLOCKS_DIFFER) {
    throw new Error('the sign-in at the OpenID Connect provider is older than the request for it')
  }
}

/** The library uses the system's time, so the comparison must too. */
function seconds(): number {
  return Math.floor(Date.now() / SECOND)
}

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
  const client = await import('openid-client')
  const { ClientSecretBasic, ClientSecretPost } = client
  const address = new URL(`${issuer}/.well-known/openid-configuration`)
  const found = await client.discovery(
    address,
    clientId,
    undefined,
    (as, ...rest) => {
      const methods = as.token_endpoint_auth_methods_supported
      const isBasic = methods !== undefined && !methods.includes('client_secret_post')
      return (isBasic ? ClientSecretBasic : ClientSecretPost)(clientSecret)(as, ...rest)
    },
    {
      timeout: ANSWERS_WITHIN / SECOND,
      [client.customFetch]: boundedFetch,
      // Plain HTTP is refused off loopback: see `usableOidc`.
      execute: [
        client.enableNonRepudiationChecks,
        ...(isLoopback(address) ? [client.allowInsecureRequests] : []),
      ],
    },
  )
  // The library compares the issuer only where it builds the discovery address itself, and would then insist
  // on a trailing slash.
  const said = found.serverMetadata().issuer
  if (said.replace(/\/$/, '') !== issuer)
    throw new Error(`the issuer in the discovery document is ${JSON.stringify(said)}`)
  return found
}

/** Limits size and time before the library reads the response. */
const boundedFetch: CustomFetch = async (address, { headers, method, body, signal }) => {
  const limit = AbortSignal.timeout(ANSWERS_WITHIN)
  const response = await fetch(webAddress(address), {
    headers,
    method,
    body: body ?? null,
    redirect: 'manual',
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  })
  const bytes = await bodyUpTo(response, LONGEST_ANSWER)
  return new Response(bytes, { status: response.status, headers: response.headers })
}

/** Throws, and closes the connection, when the body is longer than `most` bytes. */
async function bodyUpTo(response: Response, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null) return null
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body) {
    length += chunk.byteLength
    if (length > most) throw new Error(`the answer is longer than ${most} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

type AccountMaker = Pick<Core, 'db' | 'clock' | 'random'> & {
  readonly config: Pick<Core['config'], 'signUp'>
}

/**
 * Creates the subject's account unless there is one. `wanted`: the provider's name for the person; the
 * account's is similar. Throws Refusal SIGN_UP_CLOSED or DUPLICATE_NAME.
 */
async function ensureAccount(core: AccountMaker, subject: string, wanted: string): Promise<void> {
  const { db, random, config } = core
  if ((await findSubject(db, subject)) !== null) return
  assertOpen(config.signUp)
  for (const username of candidates(wanted, random)) {
    if (await insertAccountOf(core, subject, username)) return
    // A concurrent request of the subject may have created it.
    if ((await findSubject(db, subject)) !== null) return
  }
  throw new Refusal('DUPLICATE_NAME', 'No free user name was found for you; try again')
}

/** False when the name is taken, or another request was first. */
async function insertAccountOf(
  { db, clock, random }: AccountMaker,
  subject: string,
  username: string,
): Promise<boolean> {
  try {
    await inTransaction(db, async (trx) => {
      const now = clock.now()
      const id = await insertAccount(trx, random, { username, created_at: now })
      await insertSubject(trx, id, subject, now)
    })
    return true
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    return false
  }
}

const MOST_NAMES = 20
const LONGEST_WANTED = 200
/** Leaves room for a number within a user name's 32 characters. */
const LONGEST_BASE = 26

function* candidates(wanted: string, random: Random): Generator<string> {
  const [first = ''] = wanted.slice(0, LONGEST_WANTED).split('@', 1)
  const base = first
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .slice(0, LONGEST_BASE)
  if (base.length >= 3) yield base
  for (let tries = 0; tries < MOST_NAMES; tries++) {
    yield `${base || 'user'}-${Buffer.from(random(2)).toString('hex')}`
  }
}

async function findSubject(db: Database, subject: string): Promise<AccountId | null> {
  const row = await db
    .selectFrom('identities')
    .select('account_id')
    .where('provider', '=', 'oidc')
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.account_id ?? null
}

async function hasSubject(db: Database, account: AccountId): Promise<boolean> {
  const row = await db
    .selectFrom('identities')
    .select('id')
    .where('account_id', '=', account)
    .where('provider', '=', 'oidc')
    .executeTakeFirst()
  return row !== undefined
}

/** Throws a unique violation. */
async function insertSubject(trx: Trx, account: AccountId, subject: string, now: number): Promise<void> {
  await trx
    .insertInto('identities')
    .values({
      account_id: account,
      provider: 'oidc',
      subject,
      password_hash: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

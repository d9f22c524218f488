import * as z from 'zod'
import { findAccount } from '../../core/accounts.rows.ts'
import type { Core } from '../../core/core.ts'
import { hashPassword, isNoPassword, verifyPassword } from '../../core/password-hash.ts'
import { tryOnce } from '../../core/rate-limits/attempts.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { isUsername } from '../../domain/account.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Challenges, MakeChallenges } from './challenges.ts'
import { findPassword, findPasswordOf, findSettledPassword } from './passwords.ts'
import { codesNotSetUp, lockTwoFactor, type SecondFactorCodes } from './second-factor.ts'
import { type Browser, enabledAccount, type SessionStart, signInCookie } from './sessions.ts'

/** Result of a step: signed in, or a code is required next. */
export interface SignInStep {
  readonly next: 'signed in' | 'code'
  /** Set-Cookie headers. */
  readonly cookies: readonly string[]
}

const TRIES_PER_ADDRESS = 10
const TRIES_PER_NAME = 60
/** Attempts of one known browser, independent of those of strangers. */
const TRIES_PER_BROWSER = 10
const TOO_MANY = 'Too many wrong passwords; wait a while and try again'

type Password = Awaited<ReturnType<typeof findPasswordOf>>

/**
 * Sign-in. Every method ends in a new session, which prevents session fixation. A password change between two
 * steps voids the sign-in.
 */
export function createSignIn({
  db,
  rates,
  knownBrowsers,
  codeStep,
  sessionStart,
}: Pick<Core, 'db' | 'rates'> & {
  readonly knownBrowsers: KnownBrowsers
  readonly codeStep: CodeStep
  readonly sessionStart: SessionStart
}) {
  const passwordOf = async (name: string): Promise<Password> =>
    isUsername(name) ? findPasswordOf(db, name) : null

  async function givePassword(browser: Browser, password: string, before: Password): Promise<SignInStep> {
    if (isNoPassword(password)) throw wrongPassword()
    if (before === null) {
      // Hashes anyway, so that unknown names, and accounts without a password, cost the same time.
      if (password !== '') await hashPassword(password)
      throw wrongPassword()
    }
    const { account, hash } = before
    if (!(await verifyPassword(password, hash))) throw wrongPassword()
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      // Re-checked under the lock: the password may have changed while this attempt waited to be hashed.
      if ((await findSettledPassword(trx, account)) !== hash) throw wrongPassword()
      if ((await enabledAccount(trx, account)).two_factor === 1) {
        return { next: 'code', cookies: [sessionStart.forget(), await codeStep.begin(trx, account, hash)] }
      }
      const session = await sessionStart.begin(trx, account, browser, 'password')
      return { next: 'signed in', cookies: [session, ...knownBrowsers.remember(browser, account, hash)] }
    })
  }

  return {
    /** Throws Refusal WRONG_PASSWORD, ACCOUNT_DISABLED, or RATE_LIMITED after too many attempts. */
    async withPassword(
      browser: Browser,
      username: string,
      password: string,
      bucket: string,
    ): Promise<SignInStep> {
      const name = username.toLowerCase()
      const before = await passwordOf(name)
      const known = before === null ? null : knownBrowsers.knownAs(browser, before.account, before.hash)
      const windows: Parameters<typeof tryOnce>[1] =
        known === null
          ? [
              { subject: `sign-in:${bucket}`, limit: TRIES_PER_ADDRESS, length: 15 * MINUTE },
              { subject: `sign-in-as:${Bun.SHA256.hash(name, 'hex')}`, limit: TRIES_PER_NAME, length: HOUR },
            ]
          : [{ subject: `sign-in-known:${known}`, limit: TRIES_PER_BROWSER, length: 15 * MINUTE }]
      const tried = { secret: 'sign-in', username: before === null ? null : name } as const
      const terms = { message: TOO_MANY, tried }
      return tryOnce(rates, windows, terms, () => givePassword(browser, password, before))
    },

    /** Signs in with a password that was just set, which is not counted as a guess. */
    async withNewPassword(browser: Browser, username: string, password: string): Promise<SignInStep> {
      return givePassword(browser, password, await passwordOf(username.toLowerCase()))
    },

    /** The second step, with an app's code or a recovery code. Throws Refusal WRONG_CODE, NOT_SIGNED_IN. */
    withCode: async (browser: Browser, code: string): Promise<SignInStep> => ({
      next: 'signed in',
      cookies: await codeStep.finish(browser, code),
    }),

    /** Set-Cookie headers that make the browser known after a proof of ownership. */
    remember: async (browser: Browser, account: AccountId): Promise<readonly string[]> =>
      knownBrowsers.remember(browser, account, await findPassword(db, account)),

    /** Set-Cookie headers that clear the browser's session cookie; the session must have been ended before. */
    forget: (): readonly string[] => [sessionStart.forget()],
  }
}

function wrongPassword(): Refusal {
  const message = 'The user name or the password is wrong; check both and try again'
  return wrongSecret('WRONG_PASSWORD', message, 'sign-in')
}

/** Wrong codes per account after a correct password; a known browser has a limit of its own. */
const CODES = 10
/** Codes that may be tried after one password; then the password is required again. */
const CODES_PER_PASSWORD = 5
/** Suggested seconds until a retry when the limit is reached. */
const WAIT_AFTER_CODES = (15 * MINUTE) / SECOND
/** Time limit between the password and the code. */
const CODE_MAY_TAKE = 10 * MINUTE

const TOO_MANY_CODES = 'Too many wrong codes; wait a while and sign in again'

/** Content of the challenge: the password step that succeeded. */
const givenPassword = z.object({
  kind: z.literal('code'),
  account: z.number().transform((id) => id as AccountId),
  /** HMAC of the password hash, which changes with it and does not reveal it. */
  tag: z.string(),
  /** Number of codes tried. */
  tries: z.number(),
})

type Given = z.infer<typeof givenPassword>

/** Second step of a sign-in, for accounts with codes. Void once the password changes. */
export function createCodeStep({
  db,
  rates,
  signing,
  knownBrowsers,
  codes,
  sessionStart,
  challenges,
}: Pick<Core, 'db' | 'rates' | 'signing'> & {
  readonly knownBrowsers: KnownBrowsers
  readonly challenges: MakeChallenges
  readonly codes: SecondFactorCodes
  readonly sessionStart: SessionStart
}) {
  const given = challenges({ name: 'password', lasts: CODE_MAY_TAKE, content: givenPassword })
  const tagOf = (hash: string) => signing.tag('sign-in-password', hash)

  const use = (browser: Browser, { account, tag }: Given, code: string): Promise<readonly string[]> =>
    inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      const hash = await findSettledPassword(trx, account)
      if (hash === null || tagOf(hash) !== tag) throw tooLate()
      const kept = await lockTwoFactor(trx, account)
      if (kept?.verified !== 1) throw codesNotSetUp()
      await codes.useAnyCode(trx, account, kept, code)
      // A wrong code rolls this back, so only the correct one ends the step.
      if ((await given.take(trx, browser)) === null) throw tooLate()
      const session = await sessionStart.begin(trx, account, browser, 'password and code')
      return [session, given.forget(), ...knownBrowsers.remember(browser, account, hash)]
    })

  return {
    /**
     * Starts the step after the password with that hash. Returns the Set-Cookie header that ties the code to
     * it.
     */
    begin: (trx: Trx, account: AccountId, hash: string): Promise<string> =>
      given.begin(trx, { kind: 'code', account, tag: tagOf(hash), tries: 0 }),

    /**
     * Accepts an app's code or a recovery code. Returns Set-Cookie headers. Throws Refusal WRONG_CODE,
     * NOT_SIGNED_IN or RATE_LIMITED.
     */
    async finish(browser: Browser, text: string): Promise<readonly string[]> {
      const step = await given.find(browser)
      const hash = step === null ? null : await findPassword(db, step.account)
      if (step === null || hash === null || tagOf(hash) !== step.tag) throw tooLate()
      const known = knownBrowsers.knownAs(browser, step.account, hash)
      const subject = known === null ? `codes:${step.account}` : `codes-known:${known}`
      const windows = [{ subject, limit: CODES, length: 15 * MINUTE }] as const
      const username = (await findAccount(db, step.account))?.username ?? null
      const terms = { message: TOO_MANY_CODES, tried: { secret: 'sign-in', username } } as const
      return tryOnce(rates, windows, terms, async () => {
        await countCode(given, db, browser)
        return use(browser, step, text.replaceAll(/\s/g, ''))
      })
    },
  }
}

export type CodeStep = ReturnType<typeof createCodeStep>

/** Counts the code before it is checked, so that concurrent guesses are counted too. */
async function countCode(given: Challenges<Given>, db: Database, browser: Browser): Promise<void> {
  const counted = await given.change(browser, (step) => ({ ...step, tries: step.tries + 1 }))
  if (counted === null) throw tooLate()
  if (counted.tries <= CODES_PER_PASSWORD) return
  await given.take(db, browser)
  const refusedTry = { secret: 'sign-in', username: null, outcome: 'locked' } as const
  throw new Refusal('RATE_LIMITED', TOO_MANY_CODES, WAIT_AFTER_CODES, { refusedTry })
}

function tooLate(): Refusal {
  return new Refusal('NOT_SIGNED_IN', 'The password was given too long ago, or changed since; sign in again')
}

const LASTS = 365 * DAY
const MOST_ACCOUNTS = 5
const PURPOSE = 'known-browser'

const payload = z.array(z.object({ a: z.number(), n: z.string(), t: z.string(), e: z.number() }))
type Entry = z.infer<typeof payload>[number]

/**
 * Recognizes an account's browsers, so that their wrong passwords are counted separately from strangers' (the
 * device cookie of OWASP's "Blocking Brute Force Attacks"). The cookie is signed, and void once the password
 * changes.
 */
export function createKnownBrowsers({
  signing,
  clock,
  random,
  publicUrl,
}: Pick<Core, 'signing' | 'clock' | 'random' | 'publicUrl'>) {
  const cookie = signInCookie('browser', publicUrl)
  /** Changes with the password hash and does not reveal it. */
  const tagOf = (passwordHash: string) => signing.tag('known-browser-password', passwordHash)

  function entries(browser: Browser): readonly Entry[] {
    const value = cookie.read(browser)
    const found = value === null ? null : payload.safeParse(signing.verify(PURPOSE, value))
    return found?.success === true ? found.data.filter(({ e }) => e > clock.now()) : []
  }

  return {
    knownAs(browser: Browser, account: AccountId, passwordHash: string): string | null {
      const entry = entries(browser).find(({ a }) => a === account)
      return entry !== undefined && entry.t === tagOf(passwordHash) ? entry.n : null
    },

    /** None for an account without a password, which cannot be locked out. */
    remember(browser: Browser, account: AccountId, passwordHash: string | null): readonly string[] {
      if (passwordHash === null) return []
      const others = entries(browser).filter(({ a }) => a !== account)
      const n = Buffer.from(random(12)).toString('base64url')
      const entry = { a: account, n, t: tagOf(passwordHash), e: clock.now() + LASTS }
      const value = signing.sign(PURPOSE, [...others, entry].slice(-MOST_ACCOUNTS))
      return [cookie.write(value, LASTS)]
    },
  }
}

export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>

import * as z from 'zod'
import { findPassword, findPasswordOf, findSettledPassword } from '../database/identities.ts'
import type { Db } from '../database/schema.ts'
import { findSessionHolder } from '../database/sessions.ts'
import { hashToken } from '../database/token-hash.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import { isUsername } from '../domain/username.ts'
import { type Auth, type Browser, browserHeaders, withoutSession } from './auth.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { hashPassword, isNoPassword } from './passwords.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Signing } from './signing.ts'
import { translated, wrongPassword } from './signing-in-failures.ts'
import {
  browserCookie,
  CODE_MAY_TAKE,
  cookieFlags,
  cookieOf,
  passwordCookie,
  sessionCookie,
} from './signing-in-terms.ts'
import { tryOnce } from './tries.ts'
import { assertUnused, useCode } from './used-codes.ts'

/** How far somebody has come: they are signed in, or the code comes next. */
export interface SignInStep {
  readonly next: 'signed in' | 'code'
  /** Set-Cookie headers. */
  readonly cookies: readonly string[]
}

/**
 * Every way ends in a new session of its own, so that nobody can be given a session that others know. A password that
 * is changed before the way is at its end leads to none.
 */
export interface SignIn {
  /** Throws Refusal WRONG_PASSWORD, ACCOUNT_DISABLED, or RATE_LIMITED after too many tries. */
  withPassword(browser: Browser, username: string, password: string, bucket: string): Promise<SignInStep>
  /** For who has just set that password: it is no guess, and not counted as one. */
  withNewPassword(browser: Browser, username: string, password: string): Promise<SignInStep>
  /** The second step: the code that an app shows, or one of the recovery codes. Throws Refusal WRONG_CODE, NOT_SIGNED_IN. */
  withCode(browser: Browser, code: string): Promise<SignInStep>
  /** Set-Cookie headers for a browser in which somebody has just shown that the account is theirs. */
  remember(browser: Browser, account: AccountId): Promise<readonly string[]>
  /** Cookies that end what the browser has; its session is ended before. */
  forget(): readonly string[]
}

const TRIES_PER_ADDRESS = 10
const TRIES_PER_NAME = 60
/** Of one browser that the account is known in, whatever strangers try meanwhile. */
const TRIES_PER_BROWSER = 10
/** Wrong codes after the right password; a browser that the account is known in has as many of its own. */
const CODES = 10

const TOO_MANY = 'Too many wrong passwords; wait a while and try again'
const TOO_MANY_CODES = 'Too many wrong codes; wait a while and sign in again'

const PURPOSE = 'sign-in-password'

/** The password that was given, for the step in which the code is. */
const givenPassword = z.object({ a: z.number(), t: z.string() })

type Password = Awaited<ReturnType<typeof findPasswordOf>>

export function createSignIn(parts: {
  db: Db
  auth: Auth
  rates: RateLimits
  signing: Signing
  knownBrowsers: KnownBrowsers
  publicUrl: () => string
}): SignIn {
  const { db, auth, rates, signing, knownBrowsers, publicUrl } = parts
  const fresh = (browser: Browser) => browserHeaders(withoutSession(browser, sessionCookie(publicUrl())))
  /** Says nothing of the hash, and changes with it. */
  const tagOf = (hash: string) => signing.tag(PURPOSE, hash)
  const passwordOf = async (name: string): Promise<Password> =>
    isUsername(name) ? findPasswordOf(db, name) : null

  async function endNew(headers: Headers): Promise<void> {
    const { api } = await auth()
    await api.signOut({ headers: new Headers({ cookie: cookieOf(headers) }) })
  }

  /** better-auth looks the hash up, takes its time, and goes on whatever has become of it meanwhile. */
  async function givePassword(
    browser: Browser,
    username: string,
    password: string,
    before: Password,
  ): Promise<SignInStep> {
    if (isNoPassword(password)) throw wrongPassword()
    if (before === null) {
      // Hash anyway, so that names without a password, of nobody or of somebody, cost the same time.
      if (password !== '') await hashPassword(password)
      throw wrongPassword()
    }
    const { api } = await auth()
    const { response, headers } = await translated(
      api.signInUsername({ body: { username, password }, headers: fresh(browser), returnHeaders: true }),
    )
    const isCodeNext = needsCode(response)
    if ((await findSettledPassword(db, before.account)) !== before.hash) {
      // What waits for a code is worth nothing to who does not get its cookie.
      if (!isCodeNext) await endNew(headers)
      throw wrongPassword()
    }
    const cookies = headers.getSetCookie()
    if (!isCodeNext) {
      return {
        next: 'signed in',
        cookies: [...cookies, ...knownBrowsers.remember(browser, before.account, before.hash)],
      }
    }
    const given = signing.sign(PURPOSE, { a: before.account, t: tagOf(before.hash) })
    return { next: 'code', cookies: [...cookies, givenCookie(given, CODE_MAY_TAKE / SECOND)] }
  }

  async function giveCode(
    account: AccountId,
    headers: Headers,
    code: string,
  ): Promise<{ token: string; headers: Headers }> {
    const { api } = await auth()
    const isOfApp = /^\d{6}$/.test(code)
    const asked = { body: { code }, headers, returnHeaders: true } as const
    if (!isOfApp) {
      const done = await translated(api.verifyBackupCode(asked))
      return { token: done.response.token ?? '', headers: done.headers }
    }
    // Before better-auth looks: with a right code it would take the step after the password for done.
    await assertUnused(db, auth, account, code)
    const done = await translated(api.verifyTOTP(asked))
    try {
      await useCode(db, auth, account, code)
    } catch (error) {
      await endNew(done.headers)
      throw error
    }
    return { token: done.response.token, headers: done.headers }
  }

  /** The account whose password the browser has given, unless that is another one by now. */
  async function givenBy(browser: Browser): Promise<{ account: AccountId; hash: string }> {
    const cookie = browserCookie(browser, passwordCookie(publicUrl()))
    const found = cookie === null ? null : givenPassword.safeParse(signing.verify(PURPOSE, cookie))
    if (found?.success !== true) throw tooLate()
    const account = found.data.a as AccountId
    const hash = await findPassword(db, account)
    if (hash === null || tagOf(hash) !== found.data.t) throw tooLate()
    return { account, hash }
  }

  function givenCookie(value: string, seconds: number): string {
    return `${passwordCookie(publicUrl())}=${value}; Max-Age=${seconds}${cookieFlags(publicUrl())}`
  }

  return {
    async withPassword(browser, username, password, bucket) {
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
      return tryOnce(rates, windows, TOO_MANY, () => givePassword(browser, name, password, before))
    },

    async withNewPassword(browser, username, password) {
      const name = username.toLowerCase()
      return givePassword(browser, name, password, await passwordOf(name))
    },

    async withCode(browser, text) {
      const { account, hash: given } = await givenBy(browser)
      const known = knownBrowsers.knownAs(browser, account, given)
      const subject = known === null ? `codes:${account}` : `codes-known:${known}`
      const windows = [{ subject, limit: CODES, length: 15 * MINUTE }] as const
      const { token, headers } = await tryOnce(rates, windows, TOO_MANY_CODES, () =>
        giveCode(account, fresh(browser), text.replaceAll(/\s/g, '')),
      )
      const holder = await findSessionHolder(db, hashToken(token))
      const hash = holder?.account === account ? await findSettledPassword(db, account) : null
      if (hash !== given) {
        await endNew(headers)
        throw tooLate()
      }
      const remembered = knownBrowsers.remember(browser, account, hash)
      return { next: 'signed in', cookies: [...headers.getSetCookie(), givenCookie('', 0), ...remembered] }
    },

    remember: async (browser, account) =>
      knownBrowsers.remember(browser, account, await findPassword(db, account)),

    forget: () => [`${sessionCookie(publicUrl())}=; Max-Age=0${cookieFlags(publicUrl())}`],
  }
}

function tooLate(): Refusal {
  return new Refusal('NOT_SIGNED_IN', 'The password was given too long ago, or changed since; sign in again')
}

/** better-auth's types do not tell what its second factor makes of the answer. */
function needsCode(response: object): boolean {
  return 'twoFactorRedirect' in response && response.twoFactorRedirect === true
}

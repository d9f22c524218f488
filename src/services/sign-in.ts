import { findPasswordOf, findSettledPassword } from '../database/identities.ts'
import type { Db } from '../database/schema.ts'
import { findSessionHolder } from '../database/sessions.ts'
import { hashToken } from '../database/token-hash.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { isUsername } from '../domain/username.ts'
import { type Auth, type Browser, browserHeaders, withoutSession } from './auth.ts'
import { hashPassword, isNoPassword } from './passwords.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Signing } from './signing.ts'
import { translated, wrongPassword } from './signing-in-failures.ts'
import { CODE_MAY_TAKE, passwordCookie, sessionCookie } from './signing-in-terms.ts'
import { countTry } from './tries.ts'

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
  /** Cookies that end what the browser has; its session is ended before. */
  forget(): readonly string[]
}

const TRIES_PER_ADDRESS = 10
const TRIES_PER_NAME = 60
/** How long the code of an app is taken for right, at most: its half minute, and those beside it. */
const CODE_LASTS = 90_000

const TOO_MANY = 'Too many wrong passwords; wait a while and try again'

export function createSignIn(parts: {
  db: Db
  auth: Auth
  rates: RateLimits
  signing: Signing
  publicUrl: () => string
}): SignIn {
  const { db, auth, rates, signing, publicUrl } = parts
  const fresh = (browser: Browser) => browserHeaders(withoutSession(browser, sessionCookie(publicUrl())))
  /** Says nothing of the hash, and changes with it. */
  const tagOf = (hash: string) => signing.tag('sign-in-password', hash)

  async function endNew(headers: Headers): Promise<void> {
    const { api } = await auth()
    await api.signOut({ headers: new Headers({ cookie: cookieOf(headers) }) })
  }

  /** better-auth looks the hash up, takes its time, and goes on whatever has become of it meanwhile. */
  async function givePassword(browser: Browser, username: string, password: string): Promise<SignInStep> {
    if (isNoPassword(password)) throw wrongPassword()
    if (!isUsername(username)) {
      // As dear as a name that somebody could have.
      if (password !== '') await hashPassword(password)
      throw wrongPassword()
    }
    const before = await findPasswordOf(db, username)
    const { api } = await auth()
    const { response, headers } = await translated(
      api.signInUsername({ body: { username, password }, headers: fresh(browser), returnHeaders: true }),
    )
    const isCodeNext = needsCode(response)
    if (before === null || (await findSettledPassword(db, before.account)) !== before.hash) {
      // What waits for a code is worth nothing to who does not get its cookie.
      if (!isCodeNext) await endNew(headers)
      throw wrongPassword()
    }
    const cookies = headers.getSetCookie()
    return isCodeNext
      ? { next: 'code', cookies: [...cookies, tagCookie(tagOf(before.hash), CODE_MAY_TAKE / SECOND)] }
      : { next: 'signed in', cookies }
  }

  async function giveCode(headers: Headers, code: string): Promise<{ token: string; headers: Headers }> {
    const { api } = await auth()
    const isOfApp = /^\d{6}$/.test(code)
    const asked = { body: { code }, headers, returnHeaders: true } as const
    if (!isOfApp) {
      const done = await translated(api.verifyBackupCode(asked))
      return { token: done.response.token ?? '', headers: done.headers }
    }
    const done = await translated(api.verifyTOTP(asked))
    // RFC 6238: a code is taken once. Whoever has watched it being typed comes too late.
    const once = await rates.take(`code:${done.response.user.id}:${code}`, 1, 1, CODE_LASTS)
    if (!once.allowed) {
      await endNew(done.headers)
      throw new Refusal('WRONG_CODE', 'This code was used before; wait for the next one')
    }
    return { token: done.response.token, headers: done.headers }
  }

  function tagCookie(value: string, seconds: number): string {
    return `${passwordCookie(publicUrl())}=${value}; Max-Age=${seconds}${flags()}`
  }

  function flags(): string {
    return `; Path=/; HttpOnly; SameSite=Lax${publicUrl().startsWith('https:') ? '; Secure' : ''}`
  }

  return {
    async withPassword(browser, username, password, bucket) {
      const name = username.toLowerCase()
      const takeBack = await countTry(
        rates,
        [
          { subject: `sign-in:${bucket}`, limit: TRIES_PER_ADDRESS, length: 15 * MINUTE },
          { subject: `sign-in-as:${Bun.SHA256.hash(name, 'hex')}`, limit: TRIES_PER_NAME, length: HOUR },
        ],
        TOO_MANY,
      )
      const step = await givePassword(browser, name, password)
      await takeBack()
      return step
    },

    withNewPassword: (browser, username, password) => givePassword(browser, username.toLowerCase(), password),

    async withCode(browser, text) {
      const tag = cookieOfBrowser(browser, passwordCookie(publicUrl()))
      if (tag === null) throw tooLate()
      const { token, headers } = await giveCode(fresh(browser), text.replaceAll(/\s/g, ''))
      const holder = await findSessionHolder(db, hashToken(token))
      const hash = holder === undefined ? null : await findSettledPassword(db, holder.account)
      if (hash === null || tagOf(hash) !== tag) {
        await endNew(headers)
        throw tooLate()
      }
      return { next: 'signed in', cookies: [...headers.getSetCookie(), tagCookie('', 0)] }
    },

    forget: () => [`${sessionCookie(publicUrl())}=; Max-Age=0${flags()}`],
  }
}

function tooLate(): Refusal {
  return new Refusal('NOT_SIGNED_IN', 'The password was given too long ago, or changed since; sign in again')
}

/** better-auth's types do not tell what its second factor makes of the answer. */
function needsCode(response: object): boolean {
  return 'twoFactorRedirect' in response && response.twoFactorRedirect === true
}

function cookieOfBrowser({ cookies }: Browser, name: string): string | null {
  const pair = cookies.split(/; */).find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? null
}

function cookieOf(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .join('; ')
}

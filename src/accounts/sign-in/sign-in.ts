import { hashPassword, isNoPassword, verifyPassword } from '../../core/password-hash.ts'
import { tryOnce } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { isUsername } from '../../domain/account.ts'
import { HOUR, MINUTE } from '../../domain/clock.ts'
import { type Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { CodeStep } from './code-step.ts'
import { findPassword, findPasswordOf, findSettledPassword } from './identities.rows.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { type BeginSession, enabledAccount } from './session-start.ts'
import { type Browser, cookieFlags, sessionCookie } from './sign-in-terms.ts'

/** Result of a step: signed in, or a code is required next. */
export interface SignInStep {
  readonly next: 'signed in' | 'code'
  /** Set-Cookie headers. */
  readonly cookies: readonly string[]
}

/**
 * Sign-in. Every method ends in a new session, which prevents session fixation. A password change between two
 * steps voids the sign-in.
 */
export interface SignIn {
  /** Throws Refusal WRONG_PASSWORD, ACCOUNT_DISABLED, or RATE_LIMITED after too many attempts. */
  withPassword(browser: Browser, username: string, password: string, bucket: string): Promise<SignInStep>
  /** Signs in with a password that was just set, which is not counted as a guess. */
  withNewPassword(browser: Browser, username: string, password: string): Promise<SignInStep>
  /** The second step, with an app's code or a recovery code. Throws Refusal WRONG_CODE, NOT_SIGNED_IN. */
  withCode(browser: Browser, code: string): Promise<SignInStep>
  /** Set-Cookie headers that make the browser known after a proof of ownership. */
  remember(browser: Browser, account: AccountId): Promise<readonly string[]>
  /** Set-Cookie headers that clear the browser's session cookie; the session must have been ended before. */
  forget(): readonly string[]
}

const TRIES_PER_ADDRESS = 10
const TRIES_PER_NAME = 60
/** Attempts of one known browser, independent of those of strangers. */
const TRIES_PER_BROWSER = 10
const TOO_MANY = 'Too many wrong passwords; wait a while and try again'

type Password = Awaited<ReturnType<typeof findPasswordOf>>

export function createSignIn(parts: {
  db: Database
  rates: RateLimits
  knownBrowsers: KnownBrowsers
  codeStep: CodeStep
  beginSession: BeginSession
  publicUrl: () => string
}): SignIn {
  const { db, rates, knownBrowsers, codeStep, beginSession, publicUrl } = parts
  const noSession = () => `${sessionCookie(publicUrl())}=; Max-Age=0${cookieFlags(publicUrl())}`
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
        return { next: 'code', cookies: [noSession(), await codeStep.begin(trx, account, hash)] }
      }
      const session = await beginSession(trx, account, browser, 'password')
      return { next: 'signed in', cookies: [session, ...knownBrowsers.remember(browser, account, hash)] }
    })
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
      const tried = { secret: 'sign-in', username: before === null ? null : name } as const
      const terms = { message: TOO_MANY, tried }
      return tryOnce(rates, windows, terms, () => givePassword(browser, password, before))
    },

    async withNewPassword(browser, username, password) {
      return givePassword(browser, password, await passwordOf(username.toLowerCase()))
    },

    withCode: async (browser, code) => ({
      next: 'signed in',
      cookies: await codeStep.finish(browser, code),
    }),

    remember: async (browser, account) =>
      knownBrowsers.remember(browser, account, await findPassword(db, account)),

    forget: () => [noSession()],
  }
}

function wrongPassword(): Refusal {
  const message = 'The user name or the password is wrong; check both and try again'
  return wrongSecret('WRONG_PASSWORD', message, 'sign-in')
}

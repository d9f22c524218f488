import { HOUR, MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type Auth, type Browser, browserHeaders, withoutSession } from './auth.ts'
import type { RateLimits } from './rate-limits.ts'
import { translated } from './signing-in-failures.ts'
import { sessionCookie } from './signing-in-terms.ts'
import { countTry } from './tries.ts'

/** How far somebody has come: they are signed in, or the code comes next. */
export interface SignInStep {
  readonly next: 'signed in' | 'code'
  /** Set-Cookie headers. */
  readonly cookies: readonly string[]
}

/** Every way ends in a new session of its own, so that nobody can be given a session that others know. */
export interface SignIn {
  /** Throws Refusal WRONG_PASSWORD, ACCOUNT_DISABLED, or RATE_LIMITED after too many tries. */
  withPassword(browser: Browser, username: string, password: string, bucket: string): Promise<SignInStep>
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

export function createSignIn(auth: Auth, rates: RateLimits, publicUrl: () => string): SignIn {
  const fresh = (browser: Browser) => browserHeaders(withoutSession(browser, sessionCookie(publicUrl())))

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
      const { api } = await auth()
      const { response, headers } = await translated(
        api.signInUsername({
          body: { username: name, password },
          headers: fresh(browser),
          returnHeaders: true,
        }),
      )
      await takeBack()
      return { next: needsCode(response) ? 'code' : 'signed in', cookies: headers.getSetCookie() }
    },

    async withCode(browser, text) {
      const { api } = await auth()
      const headers = fresh(browser)
      const code = text.replaceAll(/\s/g, '')
      if (!/^\d{6}$/.test(code)) {
        const done = await translated(api.verifyBackupCode({ body: { code }, headers, returnHeaders: true }))
        return { next: 'signed in', cookies: done.headers.getSetCookie() }
      }
      const done = await translated(api.verifyTOTP({ body: { code }, headers, returnHeaders: true }))
      // RFC 6238: a code is taken once. Whoever has watched it being typed comes too late.
      const once = await rates.take(`code:${done.response.user.id}:${code}`, 1, 1, CODE_LASTS)
      if (!once.allowed) {
        await api.signOut({ headers: new Headers({ cookie: cookieOf(done.headers) }) })
        throw new Refusal('WRONG_CODE', 'This code was used before; wait for the next one')
      }
      return { next: 'signed in', cookies: done.headers.getSetCookie() }
    },

    forget: () => {
      const secure = publicUrl().startsWith('https:') ? '; Secure' : ''
      return [`${sessionCookie(publicUrl())}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${secure}`]
    },
  }
}

/** better-auth's types do not tell what its second factor makes of the answer. */
function needsCode(response: object): boolean {
  return 'twoFactorRedirect' in response && response.twoFactorRedirect === true
}

function cookieOf(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .join('; ')
}

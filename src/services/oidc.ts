import { isDatabaseFailure } from '../database/differences.ts'
import { MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type Auth, type Browser, browserHeaders, withoutSession } from './auth.ts'
import type { RateLimits } from './rate-limits.ts'
import { OIDC, sessionCookie } from './signing-in-terms.ts'
import { countTry } from './tries.ts'

/** Where to go next, and the cookies for it. */
export interface Onward {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Signing in by way of an OpenID Connect server. */
export interface Oidc {
  /**
   * On to the other server. `next`: path on this site to come back to. Throws Refusal NOT_FOUND when none is set,
   * NOT_IDENTIFIED when it does not answer, and RATE_LIMITED.
   */
  begin(browser: Browser, next: string, bucket: string): Promise<Onward>
  /** What the other server sent somebody back with. Throws Refusal NOT_IDENTIFIED, SIGN_UP_CLOSED or ACCOUNT_DISABLED. */
  finish(browser: Browser, query: Readonly<Record<string, string>>): Promise<Onward>
}

/** Where failures are told; nobody is ever sent there. */
const FAILED = '/sign-in/failed'

/** Sign-ins that an address begins in a quarter of an hour: each asks the other server, and leaves a row. */
const BEGUN_BY_ADDRESS = 60
/** How long the other server is waited for. */
const ANSWERS_WITHIN = 5 * SECOND

export function createOidc(parts: {
  auth: Auth
  rates: RateLimits
  isSet: boolean
  publicUrl: () => string
}): Oidc {
  const { auth, rates, isSet, publicUrl } = parts
  const fresh = (browser: Browser) => browserHeaders(withoutSession(browser, sessionCookie(publicUrl())))
  const assertSet = () => {
    if (!isSet) throw new Refusal('NOT_FOUND', 'This server knows no other one to sign in with')
  }

  return {
    async begin(browser, next, bucket) {
      assertSet()
      const windows = [{ subject: `oidc:${bucket}`, limit: BEGUN_BY_ADDRESS, length: 15 * MINUTE }]
      await countTry(rates, windows, 'Too many tries to sign in; wait a while and try again')
      const { api } = await auth()
      const asked = api.signInWithOAuth2({
        body: { providerId: OIDC, callbackURL: next, errorCallbackURL: FAILED },
        headers: fresh(browser),
        returnHeaders: true,
      })
      const { response, headers } = await inTime(asked).catch((error: unknown) => {
        // It does not answer, or not as such a server does.
        throw isDatabaseFailure(error) ? error : notIdentified(error)
      })
      return { location: response.url, cookies: headers.getSetCookie() }
    },

    async finish(browser, query) {
      assertSet()
      const { api } = await auth()
      const asked = api.oAuth2Callback({
        params: { providerId: OIDC },
        query,
        headers: fresh(browser),
        asResponse: true,
      })
      const response = await inTime(asked)
      const location = response.headers.get('location')
      const reason = location === null ? null : failureOf(location)
      if (location === null || reason !== null) {
        throw notIdentified(reason)
      }
      return { location, cookies: response.headers.getSetCookie() }
    },
  }
}

/** better-auth waits for as long as it takes. */
async function inTime<T>(asked: Promise<T>): Promise<T> {
  const silence = Promise.withResolvers<never>()
  const timer = setTimeout(() => silence.reject(notIdentified('no answer in time')), ANSWERS_WITHIN)
  try {
    return await Promise.race([asked, silence.promise])
  } finally {
    clearTimeout(timer)
  }
}

function notIdentified(cause: unknown): Refusal {
  const message = 'The other server did not say who you are; try again, or sign in another way'
  return new Refusal('NOT_IDENTIFIED', message, undefined, { cause })
}

function failureOf(location: string): string | null {
  return new URL(location, 'http://here.invalid').searchParams.get('error')
}

import { Refusal } from '../domain/errors.ts'
import { type Auth, type Browser, browserHeaders, withoutSession } from './auth.ts'
import { OIDC, sessionCookie } from './signing-in-terms.ts'

/** Where to go next, and the cookies for it. */
export interface Onward {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Signing in by way of an OpenID Connect server. */
export interface Oidc {
  /** On to the other server. `next`: path on this site to come back to. Throws Refusal NOT_FOUND when none is set. */
  begin(browser: Browser, next: string): Promise<Onward>
  /** What the other server sent somebody back with. Throws Refusal when it says no, or nobody may join. */
  finish(browser: Browser, query: Readonly<Record<string, string>>): Promise<Onward>
}

/** Where failures are told; nobody is ever sent there. */
const FAILED = '/sign-in/failed'

export function createOidc(auth: Auth, isSet: boolean, publicUrl: () => string): Oidc {
  const fresh = (browser: Browser) => browserHeaders(withoutSession(browser, sessionCookie(publicUrl())))
  const assertSet = () => {
    if (!isSet) throw new Refusal('NOT_FOUND', 'This server knows no other one to sign in with')
  }

  return {
    async begin(browser, next) {
      assertSet()
      const { api } = await auth()
      const { response, headers } = await api.signInWithOAuth2({
        body: { providerId: OIDC, callbackURL: next, errorCallbackURL: FAILED },
        headers: fresh(browser),
        returnHeaders: true,
      })
      return { location: response.url, cookies: headers.getSetCookie() }
    },

    async finish(browser, query) {
      assertSet()
      const { api } = await auth()
      const response = await api.oAuth2Callback({
        params: { providerId: OIDC },
        query,
        headers: fresh(browser),
        asResponse: true,
      })
      const location = response.headers.get('location')
      const reason = location === null ? null : failureOf(location)
      if (location === null || reason !== null) {
        throw new Refusal(
          'WRONG_CODE',
          'The other server did not say who you are; sign in again',
          undefined,
          {
            cause: reason,
          },
        )
      }
      return { location, cookies: response.headers.getSetCookie() }
    },
  }
}

function failureOf(location: string): string | null {
  return new URL(location, 'http://here.invalid').searchParams.get('error')
}

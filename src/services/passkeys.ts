import { findPassword } from '../database/identities.ts'
import { dropPasskey, listPasskeys, namePasskey } from '../database/passkeys.ts'
import type { Db } from '../database/schema.ts'
import { MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, PasskeyId } from '../domain/ids.ts'
import { type Auth, type Browser, browserHeaders, withoutSession } from './auth.ts'
import type { SessionCaller } from './caller.ts'
import { unhidden } from './hidden-errors.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { Proofs } from './proofs.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Sessions } from './sessions.ts'
import type { SignInStep } from './sign-in.ts'
import { translated, wrongPasskey } from './signing-in-failures.ts'
import { cookieOf, sessionCookie } from './signing-in-terms.ts'
import { countTry } from './tries.ts'

export interface PasskeyInfo {
  readonly id: PasskeyId
  readonly name: string | null
  readonly createdAt: number
}

/** What a browser is asked (WebAuthn), and the cookie that ties its answer to the question. */
export interface Ceremony {
  readonly options: object
  readonly cookies: readonly string[]
}

/** How a browser answers when a passkey was used, as WebAuthn has it in JSON. */
export interface PasskeyAnswer {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string
  }
  readonly clientExtensionResults: object
}

/** Passkeys stand for the password and the code together, so they must have been unlocked by their owner. */
export interface Passkeys {
  list(caller: SessionCaller): Promise<PasskeyInfo[]>
  /** Throws what `Proofs.confirm` throws. */
  beginAdding(caller: SessionCaller, browser: Browser, password: string | null): Promise<Ceremony>
  /** Throws Refusal INVALID_REQUEST for an answer to another question. */
  add(browser: Browser, answer: object, name: string): Promise<void>
  /** Throws Refusal NOT_FOUND. */
  rename(caller: SessionCaller, id: PasskeyId, name: string): Promise<void>
  /** Throws Refusal NOT_FOUND. */
  remove(caller: SessionCaller, id: PasskeyId): Promise<void>
  /** Throws Refusal RATE_LIMITED. */
  beginSignIn(browser: Browser, bucket: string): Promise<Ceremony>
  /** Throws Refusal NOT_IDENTIFIED or ACCOUNT_DISABLED. */
  signIn(browser: Browser, answer: PasskeyAnswer): Promise<SignInStep>
  /** Proves the caller's session. Throws Refusal NOT_IDENTIFIED, also for a passkey of another account. */
  prove(caller: SessionCaller, browser: Browser, answer: PasskeyAnswer): Promise<void>
}

const LONGEST_NAME = 100
/** Sign-ins that an address begins in a quarter of an hour: each leaves a row for whoever never goes on. */
const BEGUN_BY_ADDRESS = 60

export function createPasskeys(parts: {
  db: Db
  auth: Auth
  rates: RateLimits
  proofs: Proofs
  sessions: Sessions
  knownBrowsers: KnownBrowsers
  publicUrl: () => string
}): Passkeys {
  const { db, auth, rates, proofs, sessions, knownBrowsers, publicUrl } = parts
  const fresh = (browser: Browser) => browserHeaders(withoutSession(browser, sessionCookie(publicUrl())))

  /** A new session by the passkey. */
  async function begun(browser: Browser, answer: PasskeyAnswer) {
    // No database must be asked for just any text.
    if (!/^[\w-]+$/.test(answer.id)) throw wrongPasskey()
    const { api } = await auth()
    const { response, headers } = await unhidden(() =>
      translated(
        api.verifyPasskeyAuthentication({
          body: { response: answer },
          headers: fresh(browser),
          returnHeaders: true,
        }),
      ),
    )
    return { account: Number(response.session.userId) as AccountId, headers }
  }

  return {
    async list({ account }) {
      const rows = await listPasskeys(db, account)
      return rows.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at }))
    },

    async beginAdding(caller, browser, password) {
      await proofs.confirm(caller, password)
      const { api } = await auth()
      const { response, headers } = await translated(
        api.generatePasskeyRegistrationOptions({
          query: { name: caller.username },
          headers: browserHeaders(browser),
          returnHeaders: true,
        }),
      )
      const user = { ...response.user, name: caller.username, displayName: caller.username }
      return { options: { ...response, user }, cookies: headers.getSetCookie() }
    },

    async add(browser, answer, name) {
      const { api } = await auth()
      await translated(
        api.verifyPasskeyRegistration({
          body: { response: answer, name: shortened(name) },
          headers: browserHeaders(browser),
        }),
      )
    },

    async rename({ account }, id, name) {
      if (!(await namePasskey(db, account, id, shortened(name)))) throw noSuchPasskey()
    },

    async remove({ account }, id) {
      if (!(await dropPasskey(db, account, id))) throw noSuchPasskey()
    },

    async beginSignIn(browser, bucket) {
      const windows = [{ subject: `passkey:${bucket}`, limit: BEGUN_BY_ADDRESS, length: 15 * MINUTE }]
      await countTry(rates, windows, 'Too many tries to sign in; wait a while and try again')
      const { api } = await auth()
      const { response, headers } = await translated(
        api.generatePasskeyAuthenticationOptions({ headers: fresh(browser), returnHeaders: true }),
      )
      return {
        options: { ...response, userVerification: 'required' },
        cookies: headers.getSetCookie(),
      }
    },

    async signIn(browser, answer) {
      const { account, headers } = await begun(browser, answer)
      const remembered = knownBrowsers.remember(browser, account, await findPassword(db, account))
      return { next: 'signed in', cookies: [...headers.getSetCookie(), ...remembered] }
    },

    async prove(caller, browser, answer) {
      const { account, headers } = await begun(browser, answer)
      // better-auth tells a right passkey by a session of its own, which nobody is given.
      const { api } = await auth()
      await api.signOut({ headers: new Headers({ cookie: cookieOf(headers) }) })
      if (account !== caller.account) throw wrongPasskey()
      await sessions.prove(caller)
    },
  }
}

const shortened = (name: string) =>
  name
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST_NAME)

function noSuchPasskey(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no such passkey')
}

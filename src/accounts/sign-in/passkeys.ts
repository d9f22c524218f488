import type { SessionCaller } from '../../core/callers.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { PasskeyId } from '../../domain/ids.ts'
import { findPassword } from './identities.rows.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import {
  advanceCounter,
  dropPasskey,
  insertPasskey,
  listPasskeyHandles,
  listPasskeys,
  namePasskey,
} from './passkeys.rows.ts'
import type { Reauthentication } from './reauthentication.ts'
import type { BeginSession } from './session-start.ts'
import type { Sessions } from './sessions.ts'
import type { SignInStep } from './sign-in.ts'
import type { Browser } from './sign-in-terms.ts'
import {
  type AuthenticationResponse,
  type Ceremony,
  type PasskeyChallenges,
  type WebAuthn,
  wrongPasskey,
} from './webauthn.ts'

export interface PasskeyInfo {
  readonly id: PasskeyId
  readonly name: string | null
  readonly createdAt: number
}

/** Passkeys replace password and code together, so user verification is required. */
export interface Passkeys {
  list(caller: SessionCaller): Promise<PasskeyInfo[]>
  /** Throws what `Reauthentication.confirm` throws. */
  beginAdding(caller: SessionCaller, password: string | null): Promise<Ceremony>
  /** Throws Refusal INVALID_REQUEST when the challenge does not match or has expired. */
  add(caller: SessionCaller, browser: Browser, answer: object, name: string): Promise<void>
  /** Throws Refusal NOT_FOUND. */
  rename(caller: SessionCaller, id: PasskeyId, name: string): Promise<void>
  /** Throws Refusal NOT_FOUND. */
  remove(caller: SessionCaller, id: PasskeyId): Promise<void>
  /** Throws Refusal RATE_LIMITED. */
  beginSignIn(bucket: string): Promise<Ceremony>
  /** Throws Refusal NOT_IDENTIFIED or ACCOUNT_DISABLED. */
  signIn(browser: Browser, answer: AuthenticationResponse): Promise<SignInStep>
  /** Re-authenticates the session. Throws Refusal NOT_IDENTIFIED, also for a passkey of another account. */
  prove(caller: SessionCaller, browser: Browser, answer: AuthenticationResponse): Promise<void>
}

const LONGEST_NAME = 100
/**
 * Sign-ins that an address may begin in a quarter of an hour: each inserts a row, even if it is never
 * completed. A school begins its day behind one address.
 */
const BEGUN_BY_ADDRESS = 300

export function createPasskeys(parts: {
  db: Database
  clock: Clock
  rates: RateLimits
  reauthentication: Reauthentication
  sessions: Sessions
  knownBrowsers: KnownBrowsers
  challenges: PasskeyChallenges
  beginSession: BeginSession
  webAuthn: WebAuthn
}): Passkeys {
  const { db, clock, rates, reauthentication, sessions, knownBrowsers, challenges, beginSession, webAuthn } =
    parts

  return {
    async list({ account }) {
      const rows = await listPasskeys(db, account)
      return rows.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at }))
    },

    async beginAdding(caller, password) {
      await reauthentication.confirm(caller, password)
      const present = await listPasskeyHandles(db, caller.account)
      return challenges.ask(await webAuthn.registrationOptions(caller.username, present), caller.account)
    },

    async add({ account }, browser, answer, name) {
      const made = await webAuthn.verifyRegistration(answer, await challenges.take(browser, account))
      if (made === null) throw unusable()
      const row = { ...made, account_id: account, name: shortened(name) || null, created_at: clock.now() }
      await insertPasskey(db, row).catch((error: unknown) => {
        throw isUniqueViolation(error) ? unusable() : error
      })
    },

    async rename({ account }, id, name) {
      if (!(await namePasskey(db, account, id, shortened(name)))) throw noSuchPasskey()
    },

    async remove({ account }, id) {
      if (!(await dropPasskey(db, account, id))) throw noSuchPasskey()
    },

    async beginSignIn(bucket) {
      const windows = [{ subject: `passkey:${bucket}`, limit: BEGUN_BY_ADDRESS, length: 15 * MINUTE }]
      await countTry(rates, windows, 'Too many tries to sign in; wait a while and try again')
      return challenges.ask(await webAuthn.authenticationOptions(), null)
    },

    async signIn(browser, answer) {
      const { passkey, counter } = await challenges.prove(browser, answer)
      const account = passkey.account_id
      const session = await inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        if (!(await advanceCounter(trx, passkey.id, counter))) throw wrongPasskey()
        return beginSession(trx, account, browser, 'passkey')
      })
      const remembered = knownBrowsers.remember(browser, account, await findPassword(db, account))
      return { next: 'signed in', cookies: [session, ...remembered] }
    },

    async prove(caller, browser, answer) {
      const { passkey, counter } = await challenges.prove(browser, answer)
      if (passkey.account_id !== caller.account) throw wrongPasskey()
      if (!(await advanceCounter(db, passkey.id, counter))) throw wrongPasskey()
      await sessions.prove(caller, 'passkey')
    },
  }
}

const shortened = (name: string) =>
  name
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST_NAME)
    .toWellFormed()

function noSuchPasskey(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no such passkey')
}

function unusable(): Refusal {
  return new Refusal('INVALID_REQUEST', 'This passkey does not work for this site; try again')
}

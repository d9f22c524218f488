import type { AuthenticatorTransportFuture, RegistrationResponseJSON } from '@simplewebauthn/server'
import * as z from 'zod'
import type { SessionCaller } from '../../core/callers.ts'
import type { Core } from '../../core/core.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import type { Row } from '../../database/schema.ts'
import { inTransaction } from '../../database/transactions.ts'
import { MINUTE } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId, PasskeyId } from '../../domain/ids.ts'
import type { MakeChallenges } from './challenges.ts'
import { findPassword } from './passwords.ts'
import type { Reauthentication } from './reauthentication.ts'
import type { Browser, SessionStart, Sessions } from './sessions.ts'
import type { KnownBrowsers, SignInStep } from './sign-in.ts'

export interface PasskeyInfo {
  readonly id: PasskeyId
  readonly name: string | null
  readonly createdAt: number
}

const LONGEST_NAME = 100
/**
 * Sign-ins that an address may begin in a quarter of an hour: each inserts a row, even if it is never
 * completed. A school begins its day behind one address.
 */
const BEGUN_BY_ADDRESS = 300

/** Passkeys replace password and code together, so user verification is required. */
export function createPasskeys({
  db,
  clock,
  rates,
  reauthentication,
  sessions,
  knownBrowsers,
  challenges,
  sessionStart,
  webAuthn,
}: Pick<Core, 'db' | 'clock' | 'rates'> & {
  readonly reauthentication: Reauthentication
  readonly sessions: Sessions
  readonly knownBrowsers: KnownBrowsers
  readonly challenges: PasskeyChallenges
  readonly sessionStart: SessionStart
  readonly webAuthn: WebAuthn
}) {
  return {
    async list({ account }: SessionCaller): Promise<PasskeyInfo[]> {
      const rows = await listPasskeys(db, account)
      return rows.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at }))
    },

    /** Throws what `Reauthentication.confirm` throws. */
    async beginAdding(caller: SessionCaller, password: string | null): Promise<Ceremony> {
      await reauthentication.confirm(caller, password)
      const present = await listPasskeyHandles(db, caller.account)
      return challenges.ask(await webAuthn.registrationOptions(caller.username, present), caller.account)
    },

    /** Throws Refusal INVALID_REQUEST when the challenge does not match or has expired. */
    async add({ account }: SessionCaller, browser: Browser, answer: object, name: string): Promise<void> {
      const made = await webAuthn.verifyRegistration(answer, await challenges.take(browser, account))
      if (made === null) throw unusable()
      const row = { ...made, account_id: account, name: shortened(name) || null, created_at: clock.now() }
      await insertPasskey(db, row).catch((error: unknown) => {
        throw isUniqueViolation(error) ? unusable() : error
      })
    },

    /** Throws Refusal NOT_FOUND. */
    async rename({ account }: SessionCaller, id: PasskeyId, name: string): Promise<void> {
      if (!(await namePasskey(db, account, id, shortened(name)))) throw noSuchPasskey()
    },

    /** Throws Refusal NOT_FOUND. */
    async remove({ account }: SessionCaller, id: PasskeyId): Promise<void> {
      if (!(await dropPasskey(db, account, id))) throw noSuchPasskey()
    },

    /** Throws Refusal RATE_LIMITED. */
    async beginSignIn(bucket: string): Promise<Ceremony> {
      const windows = [{ subject: `passkey:${bucket}`, limit: BEGUN_BY_ADDRESS, length: 15 * MINUTE }]
      await countTry(rates, windows, 'Too many tries to sign in; wait a while and try again')
      return challenges.ask(await webAuthn.authenticationOptions(), null)
    },

    /** Throws Refusal NOT_IDENTIFIED or ACCOUNT_DISABLED. */
    async signIn(browser: Browser, answer: AuthenticationResponse): Promise<SignInStep> {
      const { passkey, counter } = await challenges.prove(browser, answer)
      const account = passkey.account_id
      const session = await inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        if (!(await advanceCounter(trx, passkey.id, counter))) throw wrongPasskey()
        return sessionStart.begin(trx, account, browser, 'passkey')
      })
      const remembered = knownBrowsers.remember(browser, account, await findPassword(db, account))
      return { next: 'signed in', cookies: [session, ...remembered] }
    },

    /** Re-authenticates the session. Throws Refusal NOT_IDENTIFIED, also for a passkey of another account. */
    async prove(caller: SessionCaller, browser: Browser, answer: AuthenticationResponse): Promise<void> {
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

export interface WebAuthnOptions {
  readonly options: object
  readonly challenge: string
}

export interface AuthenticationResponse {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
  }
}

export type RegisteredPasskey = Omit<NewPasskeyRow, 'account_id' | 'name' | 'created_at'>

const TRANSPORTS: ReadonlySet<string> = new Set<AuthenticatorTransportFuture>([
  'ble',
  'cable',
  'hybrid',
  'internal',
  'nfc',
  'smart-card',
  'usb',
])

const madeAnswer = z.object({
  id: z.string(),
  rawId: z.string(),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: z.string(),
    attestationObject: z.string(),
    transports: z.array(z.string()).optional(),
  }),
})

/** Loads the library on first use, because that takes 0.1 s. */
export function createWebAuthn(publicUrl: () => string) {
  const site = () => {
    const { origin, hostname } = new URL(publicUrl())
    return { expectedOrigin: origin, expectedRPID: hostname, requireUserVerification: true }
  }

  return {
    async registrationOptions(username: string, present: readonly PasskeyHandle[]): Promise<WebAuthnOptions> {
      const { generateRegistrationOptions } = await import('@simplewebauthn/server')
      const options = await generateRegistrationOptions({
        rpName: 'Holdfast',
        rpID: site().expectedRPID,
        userName: username,
        userDisplayName: username,
        attestationType: 'none',
        excludeCredentials: present.map(({ credential_id, transports }) => ({
          id: credential_id,
          transports: (transports ?? '').split(',').filter(isTransport),
        })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      return { options, challenge: options.challenge }
    },

    async verifyRegistration(answer: object, challenge: string): Promise<RegisteredPasskey | null> {
      const read = madeAnswer.safeParse(answer)
      if (!read.success) return null
      const { transports = [], ...response } = read.data.response
      const asked: RegistrationResponseJSON = { ...read.data, response, clientExtensionResults: {} }
      const info = await madeBy(asked, challenge, site())
      if (info === null) return null
      return {
        credential_id: info.credential.id,
        public_key: Buffer.from(info.credential.publicKey).toString('base64'),
        counter: info.credential.counter,
        device_type: info.credentialDeviceType,
        backed_up: info.credentialBackedUp ? 1 : 0,
        transports: transports.join(','),
        aaguid: info.aaguid,
      }
    },

    async authenticationOptions(): Promise<WebAuthnOptions> {
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
      const options = await generateAuthenticationOptions({
        rpID: site().expectedRPID,
        userVerification: 'required',
      })
      return { options, challenge: options.challenge }
    },

    /** Returns the new signature counter; null also when it has not grown. */
    async verifyAuthentication(
      answer: AuthenticationResponse,
      challenge: string,
      passkey: PasskeyKey,
    ): Promise<number | null> {
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...answer, clientExtensionResults: {} },
        expectedChallenge: challenge,
        ...site(),
        credential: {
          id: passkey.credential_id,
          publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64')),
          counter: passkey.counter,
        },
      }).catch(notVerified)
      return verified ? authenticationInfo.newCounter : null
    },
  }
}

export type WebAuthn = ReturnType<typeof createWebAuthn>

/** The library throws for every invalid response. */
const notVerified = () => ({ verified: false, authenticationInfo: null }) as const

async function madeBy(
  response: RegistrationResponseJSON,
  expectedChallenge: string,
  site: { expectedOrigin: string; expectedRPID: string; requireUserVerification: boolean },
) {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  try {
    if (!(await isOfAcceptedFormat(response))) return null
    const { registrationInfo } = await verifyRegistrationResponse({ response, expectedChallenge, ...site })
    return registrationInfo ?? null
  } catch {
    return null
  }
}

/**
 * Accepts attestations of format `none` and `packed` only. None is requested, so browsers send `none`, or
 * `packed` for self-attestation. For Apple's and Android's the library would fetch certificate lists from
 * addresses in the response: server-side request forgery.
 */
async function isOfAcceptedFormat({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const format = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject)).get('fmt')
  return format === 'none' || format === 'packed'
}

function isTransport(text: string): text is AuthenticatorTransportFuture {
  return TRANSPORTS.has(text)
}

/** WebAuthn options for the browser, and the cookie that ties the response to them. */
export interface Ceremony {
  readonly options: object
  readonly cookies: readonly string[]
}

const ANSWERED_WITHIN = 5 * MINUTE

const question = z.object({
  kind: z.literal('passkey'),
  challenge: z.string(),
  maker: z.number().nullable(),
})

/** WebAuthn challenges. Each is answered once, within five minutes, by the browser that received it. */
export function createPasskeyChallenges(db: Database, challenges: MakeChallenges, webAuthn: WebAuthn) {
  const questions = challenges({ name: 'passkey', lasts: ANSWERED_WITHIN, content: question })

  /** Consumes the challenge and returns it. Throws Refusal INVALID_REQUEST. */
  async function take(browser: Browser, maker: AccountId | null): Promise<string> {
    const asked = await questions.take(db, browser)
    if (asked?.maker !== maker) throw new Refusal('INVALID_REQUEST', 'That took too long; try again')
    return asked.challenge
  }

  return {
    /** `maker`: account that a passkey is registered for; null for an authentication. */
    async ask({ options, challenge }: WebAuthnOptions, maker: AccountId | null): Promise<Ceremony> {
      return { options, cookies: [await questions.begin(db, { kind: 'passkey', challenge, maker })] }
    },

    take,

    /**
     * Verifies an authentication; returns the passkey and its new signature counter. Throws Refusal
     * INVALID_REQUEST or NOT_IDENTIFIED.
     */
    async prove(
      browser: Browser,
      answer: AuthenticationResponse,
    ): Promise<{ readonly passkey: PasskeyKey; readonly counter: number }> {
      // Credential ids are base64url; nothing else may reach the database.
      if (!/^[\w-]+$/.test(answer.id)) throw wrongPasskey()
      const challenge = await take(browser, null)
      const passkey = await findPasskey(db, answer.id)
      const counter =
        passkey === undefined ? null : await webAuthn.verifyAuthentication(answer, challenge, passkey)
      if (passkey === undefined || counter === null) throw wrongPasskey()
      return { passkey, counter }
    },
  }
}

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>

export function wrongPasskey(): Refusal {
  return wrongSecret('NOT_IDENTIFIED', 'This passkey is not known here, or was not unlocked', 'sign-in')
}

export type PasskeyRow = Row<'passkeys', 'id' | 'name' | 'created_at'>

export function listPasskeys(db: Database, account: AccountId): Promise<PasskeyRow[]> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'name', 'created_at'])
    .where('account_id', '=', account)
    .orderBy('id')
    .execute()
}

/** Sent to the browser so that it registers no second passkey on one device. */
export type PasskeyHandle = Row<'passkeys', 'credential_id' | 'transports'>

export function listPasskeyHandles(db: Database, account: AccountId): Promise<PasskeyHandle[]> {
  return db
    .selectFrom('passkeys')
    .select(['credential_id', 'transports'])
    .where('account_id', '=', account)
    .orderBy('id')
    .execute()
}

export type PasskeyKey = Row<'passkeys', 'id' | 'account_id' | 'credential_id' | 'public_key' | 'counter'>

export function findPasskey(db: Database, credential: string): Promise<PasskeyKey | undefined> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'account_id', 'credential_id', 'public_key', 'counter'])
    .where('credential_id', '=', credential)
    .executeTakeFirst()
}

export type NewPasskeyRow = Omit<Row<'passkeys'>, 'id'>

/** Throws a unique violation. */
export async function insertPasskey(db: Database, passkey: NewPasskeyRow): Promise<void> {
  await db.insertInto('passkeys').values(passkey).execute()
}

/** False when the passkey is gone, its key was cloned, or a response is replayed. */
export async function advanceCounter(db: Queryable, id: PasskeyId, counter: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter })
    .where('id', '=', id)
    .where((row) => (counter === 0 ? row('counter', '=', 0) : row('counter', '<', counter)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function namePasskey(
  db: Database,
  account: AccountId,
  id: PasskeyId,
  name: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ name })
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function dropPasskey(db: Database, account: AccountId, id: PasskeyId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

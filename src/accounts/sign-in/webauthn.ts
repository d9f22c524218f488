import type { AuthenticatorTransportFuture, RegistrationResponseJSON } from '@simplewebauthn/server'
import * as z from 'zod'
import type { Database } from '../../database/database.ts'
import { MINUTE } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { MakeChallenges } from './challenges.ts'
import { findPasskey, type NewPasskeyRow, type PasskeyHandle, type PasskeyKey } from './passkeys.rows.ts'
import type { Browser } from './sign-in-terms.ts'

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

export interface WebAuthn {
  registrationOptions(username: string, present: readonly PasskeyHandle[]): Promise<WebAuthnOptions>
  verifyRegistration(answer: object, challenge: string): Promise<RegisteredPasskey | null>
  authenticationOptions(): Promise<WebAuthnOptions>
  /** Returns the new signature counter; null also when it has not grown. */
  verifyAuthentication(
    answer: AuthenticationResponse,
    challenge: string,
    passkey: PasskeyKey,
  ): Promise<number | null>
}

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
export function createWebAuthn(publicUrl: () => string): WebAuthn {
  const site = () => {
    const { origin, hostname } = new URL(publicUrl())
    return { expectedOrigin: origin, expectedRPID: hostname, requireUserVerification: true }
  }

  return {
    async registrationOptions(username, present) {
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

    async verifyRegistration(answer, challenge) {
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

    async authenticationOptions() {
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
      const options = await generateAuthenticationOptions({
        rpID: site().expectedRPID,
        userVerification: 'required',
      })
      return { options, challenge: options.challenge }
    },

    async verifyAuthentication(answer, challenge, passkey) {
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

/** WebAuthn challenges. Each is answered once, within five minutes, by the browser that received it. */
export interface PasskeyChallenges {
  /** `maker`: account that a passkey is registered for; null for an authentication. */
  ask(question: WebAuthnOptions, maker: AccountId | null): Promise<Ceremony>
  /** Consumes the challenge and returns it. Throws Refusal INVALID_REQUEST. */
  take(browser: Browser, maker: AccountId | null): Promise<string>
  /**
   * Verifies an authentication; returns the passkey and its new signature counter. Throws Refusal
   * INVALID_REQUEST or NOT_IDENTIFIED.
   */
  prove(
    browser: Browser,
    answer: AuthenticationResponse,
  ): Promise<{ readonly passkey: PasskeyKey; readonly counter: number }>
}

const ANSWERED_WITHIN = 5 * MINUTE

const question = z.object({
  kind: z.literal('passkey'),
  challenge: z.string(),
  maker: z.number().nullable(),
})

export function createPasskeyChallenges(
  db: Database,
  challenges: MakeChallenges,
  webAuthn: WebAuthn,
): PasskeyChallenges {
  const questions = challenges({ name: 'passkey', lasts: ANSWERED_WITHIN, content: question })

  async function take(browser: Browser, maker: AccountId | null): Promise<string> {
    const asked = await questions.take(db, browser)
    if (asked?.maker !== maker) throw new Refusal('INVALID_REQUEST', 'That took too long; try again')
    return asked.challenge
  }

  return {
    async ask({ options, challenge }, maker) {
      return { options, cookies: [await questions.begin(db, { kind: 'passkey', challenge, maker })] }
    },

    take,

    async prove(browser, answer) {
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

export function wrongPasskey(): Refusal {
  return wrongSecret('NOT_IDENTIFIED', 'This passkey is not known here, or was not unlocked', 'sign-in')
}

import * as z from 'zod'
import type { Database } from '../../database/database.ts'
import { MINUTE } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { MakeChallenges } from './challenges.ts'
import { findPasskey, type PasskeyKey } from './passkeys.rows.ts'
import type { Browser } from './sign-in-terms.ts'
import type { AuthenticationResponse, WebAuthn, WebAuthnOptions } from './webauthn.ts'

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

import { Secret, TOTP } from 'otpauth'
import * as z from 'zod'
import type { Trx } from '../../database/database.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import { makeRecoveryCode, type Random } from '../../domain/random.ts'
import { createSecretBox } from './secret-box.ts'
import { type CodeSecrets, setRecoveryCodes, type TwoFactorRow, takeCodeStep } from './two-factors.rows.ts'

/** TOTP codes of authenticator apps, and recovery codes. */
export interface SecondFactorCodes {
  /** Creates a secret in base32, and recovery codes. `sealed` is their encrypted form for the database. */
  make(): { readonly secret: string; readonly recoveryCodes: readonly string[]; readonly sealed: CodeSecrets }
  makeRecoveryCodes(): { readonly recoveryCodes: readonly string[]; readonly sealed: string }
  /**
   * Consumes an app's code. `kept` must be locked in the transaction. As RFC 6238, 5.2 requires, each code is
   * accepted once, at whichever node, and earlier ones not afterwards. Throws Refusal WRONG_CODE.
   */
  useAppCode(trx: Trx, account: AccountId, kept: TwoFactorRow, code: string): Promise<void>
  /** Consumes an app's code or a recovery code. Throws Refusal WRONG_CODE. */
  useAnyCode(trx: Trx, account: AccountId, kept: TwoFactorRow, code: string): Promise<void>
}

const RECOVERY_CODES = 10
const recoveryList = z.array(z.string())

export function createSecondFactorCodes(parts: {
  clock: Clock
  random: Random
  /** Key for the encryption of stored secrets. */
  secret: string
}): SecondFactorCodes {
  const { clock, random } = parts
  const box = createSecretBox(parts.secret, random)

  function makeRecoveryCodes() {
    const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => makeRecoveryCode(random))
    return { recoveryCodes, sealed: box.seal(JSON.stringify(recoveryCodes)) }
  }

  async function useAppCode(trx: Trx, account: AccountId, kept: TwoFactorRow, code: string): Promise<void> {
    const step = totpStep(box.open(kept.secret), code, clock.now())
    if (step === null) throw wrongCode()
    if (!(await takeCodeStep(trx, account, step))) {
      throw wrongSecret('WRONG_CODE', 'This code was used before; wait for the next one', 'sign-in')
    }
  }

  async function useRecoveryCode(
    trx: Trx,
    account: AccountId,
    { recovery_codes }: TwoFactorRow,
    code: string,
  ): Promise<void> {
    const codes = recoveryList.parse(JSON.parse(box.open(recovery_codes)))
    if (!codes.includes(code)) throw wrongCode()
    const left = box.seal(JSON.stringify(codes.filter((each) => each !== code)))
    if (!(await setRecoveryCodes(trx, account, left))) throw codesNotSetUp()
  }

  return {
    make() {
      const secret = makeTotpSecret(random)
      const { recoveryCodes, sealed } = makeRecoveryCodes()
      return {
        secret: base32Of(secret),
        recoveryCodes,
        sealed: { secret: box.seal(secret), recovery_codes: sealed },
      }
    },

    makeRecoveryCodes,
    useAppCode,

    useAnyCode: (trx, account, kept, code) =>
      (/^\d{6}$/.test(code) ? useAppCode : useRecoveryCode)(trx, account, kept, code),
  }
}

function wrongCode(): Refusal {
  return wrongSecret('WRONG_CODE', 'Wrong code; enter the one that your app shows now', 'sign-in')
}

export function codesNotSetUp(): Refusal {
  return new Refusal(
    'INVALID_REQUEST',
    'Authenticator codes are not set up for this account; set them up first',
  )
}

/** TOTP (RFC 6238) with the parameters that every app supports: SHA-1, six digits, steps of 30 seconds. */

const STEP = 30 * SECOND
/** Accepted steps before and after the current one, for clock differences. */
const WINDOW = 1

export function makeTotpSecret(random: Random): string {
  return Buffer.from(random(24)).toString('base64url')
}

export function base32Of(secret: string): string {
  return keyOf(secret).base32
}

/** Counted from the epoch; null when no step close to `now` has the code. */
export function totpStep(secret: string, code: string, now: number): number | null {
  const delta = TOTP.validate({ token: code, secret: keyOf(secret), timestamp: now, window: WINDOW })
  return delta === null ? null : Math.floor(now / STEP) + delta
}

function keyOf(secret: string): Secret {
  return new Secret({ buffer: new Uint8Array(Buffer.from(secret)).buffer })
}

import { createHash } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { Secret, TOTP } from 'otpauth'
import * as z from 'zod'
import { findAccount } from '../../core/accounts.rows.ts'
import type { SessionCaller } from '../../core/callers.ts'
import type { Core } from '../../core/core.ts'
import type { Queryable, Trx } from '../../database/database.ts'
import { forUpdate, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { SECOND } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import { makeRecoveryCode, type Random } from '../../domain/random.ts'
import type { Reauthentication } from './reauthentication.ts'
import { endSession } from './sessions.rows.ts'
import type { Browser, SessionStart } from './sessions.ts'

/** Shown once. */
export interface NewSecondFactor {
  /** `otpauth://totp/…` (RFC 6238). */
  readonly uri: string
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

export function createSecondFactor({
  db,
  reauthentication,
  codes,
  sessionStart,
}: Pick<Core, 'db'> & {
  readonly reauthentication: Reauthentication
  readonly codes: SecondFactorCodes
  readonly sessionStart: SessionStart
}) {
  async function renewSession(trx: Trx, { account, by }: SessionCaller, browser: Browser): Promise<string> {
    await endSession(trx, account, by.session)
    return sessionStart.begin(trx, account, browser, 'present session')
  }

  return {
    /**
     * The secret takes effect with the first correct code. Throws what `Reauthentication.confirm` throws, and
     * Refusal INVALID_REQUEST where codes are on already.
     */
    async begin(caller: SessionCaller, password: string | null): Promise<NewSecondFactor> {
      await reauthentication.confirm(caller, password)
      const { secret, recoveryCodes, sealed } = codes.make()
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, caller.account)
        if ((await findAccount(trx, caller.account))?.two_factor === 1) {
          throw new Refusal(
            'INVALID_REQUEST',
            'Authenticator codes are on for this account already; turn them off first',
          )
        }
        await beginTwoFactor(trx, caller.account, sealed)
      })
      const uri = `otpauth://totp/Holdfast:${caller.username}?secret=${secret}&issuer=Holdfast`
      return { uri, secret, recoveryCodes }
    },

    /** Turns codes on and replaces the session. Returns Set-Cookie headers. Throws Refusal WRONG_CODE. */
    finish: (caller: SessionCaller, browser: Browser, code: string): Promise<readonly string[]> =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, caller.account)
        const kept = await lockTwoFactor(trx, caller.account)
        if (kept === undefined) throw codesNotSetUp()
        await codes.useAppCode(trx, caller.account, kept, code.replaceAll(/\s/g, ''))
        if (kept.verified === 1) return []
        await turnOnCodes(trx, caller.account)
        return [await renewSession(trx, caller, browser)]
      }),

    /** Throws what `Reauthentication.confirm` throws, and Refusal INVALID_REQUEST where codes are off. */
    async renewRecovery(caller: SessionCaller, password: string | null): Promise<readonly string[]> {
      await reauthentication.confirm(caller, password)
      const { recoveryCodes, sealed } = codes.makeRecoveryCodes()
      if (!(await setRecoveryCodes(db, caller.account, sealed))) throw codesNotSetUp()
      return recoveryCodes
    },

    /** Replaces the session. Returns Set-Cookie headers. Throws what `Reauthentication.confirm` throws. */
    async end(caller: SessionCaller, browser: Browser, password: string | null): Promise<readonly string[]> {
      await reauthentication.confirm(caller, password)
      return inTransaction(db, async (trx) => {
        await lockAccount(trx, caller.account)
        await turnOffCodes(trx, caller.account)
        return [await renewSession(trx, caller, browser)]
      })
    },
  }
}

const RECOVERY_CODES = 10
const recoveryList = z.array(z.string())

/** TOTP codes of authenticator apps, and recovery codes. */
export function createSecondFactorCodes({
  clock,
  random,
  secret,
}: Pick<Core, 'clock' | 'random'> & {
  /** Key for the encryption of stored secrets. */
  readonly secret: string
}) {
  const box = createSecretBox(secret, random)

  function makeRecoveryCodes() {
    const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => makeRecoveryCode(random))
    return { recoveryCodes, sealed: box.seal(JSON.stringify(recoveryCodes)) }
  }

  /**
   * Consumes an app's code. `kept` must be locked in the transaction. As RFC 6238, 5.2 requires, each code is
   * accepted once, at whichever node, and earlier ones not afterwards. Throws Refusal WRONG_CODE.
   */
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
    /** Creates a secret in base32, and recovery codes. `sealed` is their encrypted form for the database. */
    make(): {
      readonly secret: string
      readonly recoveryCodes: readonly string[]
      readonly sealed: CodeSecrets
    } {
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

    /** Consumes an app's code or a recovery code. Throws Refusal WRONG_CODE. */
    useAnyCode: (trx: Trx, account: AccountId, kept: TwoFactorRow, code: string): Promise<void> =>
      (/^\d{6}$/.test(code) ? useAppCode : useRecoveryCode)(trx, account, kept, code),
  }
}

export type SecondFactorCodes = ReturnType<typeof createSecondFactorCodes>

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

const NONCE = 24

/**
 * XChaCha20-Poly1305 with the SHA-256 of the secret as its key; output is nonce, ciphertext and tag in
 * hexadecimal. The format must not change: existing rows use it.
 */
export function createSecretBox(secret: string, random: Random) {
  const key = createHash('sha256').update(secret).digest()
  return {
    seal(text: string): string {
      const nonce = random(NONCE)
      const sealed = xchacha20poly1305(key, nonce).encrypt(Buffer.from(text))
      return Buffer.concat([nonce, sealed]).toString('hex')
    },

    /** Throws for text that was altered or encrypted with another secret. */
    open(sealed: string): string {
      const bytes = Buffer.from(sealed, 'hex')
      const opened = xchacha20poly1305(key, bytes.subarray(0, NONCE)).decrypt(bytes.subarray(NONCE))
      return Buffer.from(opened).toString()
    },
  }
}

export interface CodeSecrets {
  readonly secret: string
  readonly recovery_codes: string
}

export interface TwoFactorRow extends CodeSecrets {
  readonly verified: 0 | 1
}

export function lockTwoFactor(trx: Trx, account: AccountId): Promise<TwoFactorRow | undefined> {
  return trx
    .selectFrom('two_factors')
    .select(['secret', 'recovery_codes', 'verified'])
    .where('account_id', '=', account)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
}

/** Unverified until the first correct code. */
export async function beginTwoFactor(trx: Trx, account: AccountId, secrets: CodeSecrets): Promise<void> {
  const fresh = { ...secrets, verified: 0, last_step: null } as const
  await trx
    .insertInto('two_factors')
    .values({ account_id: account, ...fresh })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(fresh))
    .execute()
}

export async function turnOnCodes(trx: Trx, account: AccountId): Promise<void> {
  await trx.updateTable('two_factors').set({ verified: 1 }).where('account_id', '=', account).execute()
  await trx.updateTable('accounts').set({ two_factor: 1 }).where('id', '=', account).execute()
}

/** Consumes that step and earlier ones; false when they were consumed before. */
export async function takeCodeStep(trx: Trx, account: AccountId, step: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('two_factors')
    .set({ last_step: step })
    .where('account_id', '=', account)
    .where((row) => row.or([row('last_step', 'is', null), row('last_step', '<', step)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** False when the account has no verified codes. */
export async function setRecoveryCodes(db: Queryable, account: AccountId, codes: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('two_factors')
    .set({ recovery_codes: codes })
    .where('account_id', '=', account)
    .where('verified', '=', 1)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Includes accounts that have begun to set codes up. */
export function listCodeSecrets(trx: Trx): Promise<(CodeSecrets & { readonly account: AccountId })[]> {
  return trx
    .selectFrom('two_factors')
    .select(['account_id as account', 'secret', 'recovery_codes'])
    .orderBy('account_id')
    .execute()
}

export async function setCodeSecrets(trx: Trx, account: AccountId, secrets: CodeSecrets): Promise<void> {
  await trx.updateTable('two_factors').set(secrets).where('account_id', '=', account).execute()
}

/** Passkeys stay. */
export async function turnOffCodes(trx: Trx, account: AccountId): Promise<void> {
  await trx.deleteFrom('two_factors').where('account_id', '=', account).execute()
  await trx.updateTable('accounts').set({ two_factor: 0 }).where('id', '=', account).execute()
}

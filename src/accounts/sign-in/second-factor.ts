import { findAccount } from '../../core/accounts.rows.ts'
import type { SessionCaller } from '../../core/callers.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Reauthentication } from './reauthentication.ts'
import { codesNotSetUp, type SecondFactorCodes } from './second-factor-codes.ts'
import type { BeginSession } from './session-start.ts'
import { endSession } from './sessions.rows.ts'
import type { Browser } from './sign-in-terms.ts'
import {
  beginTwoFactor,
  lockTwoFactor,
  setRecoveryCodes,
  turnOffCodes,
  turnOnCodes,
} from './two-factors.rows.ts'

/** Shown once. */
export interface NewSecondFactor {
  /** `otpauth://totp/…` (RFC 6238). */
  readonly uri: string
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

export interface SecondFactor {
  /**
   * The secret takes effect with the first correct code. Throws what `Reauthentication.confirm` throws, and
   * Refusal INVALID_REQUEST where codes are on already.
   */
  begin(caller: SessionCaller, password: string | null): Promise<NewSecondFactor>
  /** Turns codes on and replaces the session. Returns Set-Cookie headers. Throws Refusal WRONG_CODE. */
  finish(caller: SessionCaller, browser: Browser, code: string): Promise<readonly string[]>
  /** Throws what `Reauthentication.confirm` throws, and Refusal INVALID_REQUEST where codes are off. */
  renewRecovery(caller: SessionCaller, password: string | null): Promise<readonly string[]>
  /** Replaces the session. Returns Set-Cookie headers. Throws what `Reauthentication.confirm` throws. */
  end(caller: SessionCaller, browser: Browser, password: string | null): Promise<readonly string[]>
}

export function createSecondFactor(parts: {
  db: Database
  reauthentication: Reauthentication
  codes: SecondFactorCodes
  beginSession: BeginSession
}): SecondFactor {
  const { db, reauthentication, codes, beginSession } = parts

  async function renewSession(trx: Trx, { account, by }: SessionCaller, browser: Browser): Promise<string> {
    await endSession(trx, account, by.session)
    return beginSession(trx, account, browser, 'present session')
  }

  return {
    async begin(caller, password) {
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

    finish: (caller, browser, code) =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, caller.account)
        const kept = await lockTwoFactor(trx, caller.account)
        if (kept === undefined) throw codesNotSetUp()
        await codes.useAppCode(trx, caller.account, kept, code.replaceAll(/\s/g, ''))
        if (kept.verified === 1) return []
        await turnOnCodes(trx, caller.account)
        return [await renewSession(trx, caller, browser)]
      }),

    async renewRecovery(caller, password) {
      await reauthentication.confirm(caller, password)
      const { recoveryCodes, sealed } = codes.makeRecoveryCodes()
      if (!(await setRecoveryCodes(db, caller.account, sealed))) throw codesNotSetUp()
      return recoveryCodes
    },

    async end(caller, browser, password) {
      await reauthentication.confirm(caller, password)
      return inTransaction(db, async (trx) => {
        await lockAccount(trx, caller.account)
        await turnOffCodes(trx, caller.account)
        return [await renewSession(trx, caller, browser)]
      })
    },
  }
}

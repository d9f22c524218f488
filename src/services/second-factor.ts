import { findAccount } from '../database/accounts.ts'
import type { Db } from '../database/schema.ts'
import { Refusal } from '../domain/errors.ts'
import { type Auth, type Browser, browserHeaders } from './auth.ts'
import type { SessionCaller } from './caller.ts'
import type { Proofs } from './proofs.ts'
import { translated } from './signing-in-failures.ts'
import { useCode } from './used-codes.ts'

/** What an app needs to show codes, and what helps when it is lost. Both are told this once. */
export interface NewSecondFactor {
  /** For apps: `otpauth://totp/…` (RFC 6238). */
  readonly uri: string
  /** In base32, to be typed. */
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

/** Codes that signing in with the password takes besides. */
export interface SecondFactor {
  /**
   * Makes a secret. It counts from the first right code on. Throws what `Proofs.confirm` throws, and Refusal
   * INVALID_REQUEST where signing in takes codes already: better-auth would put it in the place of theirs at once.
   */
  begin(caller: SessionCaller, browser: Browser, password: string | null): Promise<NewSecondFactor>
  /** The first code. The session goes on as a new one. Returns Set-Cookie headers. Throws Refusal WRONG_CODE. */
  finish(caller: SessionCaller, browser: Browser, code: string): Promise<readonly string[]>
  /**
   * Makes new recovery codes in the place of those there were. Throws what `Proofs.confirm` throws, and Refusal
   * INVALID_REQUEST where signing in takes no codes.
   */
  renewRecovery(caller: SessionCaller, browser: Browser, password: string | null): Promise<readonly string[]>
  /** Throws what `Proofs.confirm` throws. Returns Set-Cookie headers. */
  end(caller: SessionCaller, browser: Browser, password: string | null): Promise<readonly string[]>
}

export function createSecondFactor(db: Db, auth: Auth, proofs: Proofs): SecondFactor {
  const given = (password: string | null) => (password === null ? {} : { password })
  return {
    async begin(caller, browser, password) {
      await proofs.confirm(caller, password)
      if ((await findAccount(db, caller.account))?.two_factor === 1) {
        throw new Refusal(
          'INVALID_REQUEST',
          'Authenticator codes are on for this account already; turn them off first',
        )
      }
      const { api } = await auth()
      const { totpURI, backupCodes } = await translated(
        api.enableTwoFactor({ body: given(password), headers: browserHeaders(browser) }),
      )
      const secret = new URL(totpURI).searchParams.get('secret') ?? ''
      return {
        uri: `otpauth://totp/Holdfast:${caller.username}?secret=${secret}&issuer=Holdfast`,
        secret,
        recoveryCodes: backupCodes,
      }
    },

    async finish(caller, browser, code) {
      const { api } = await auth()
      const given = code.replaceAll(/\s/g, '')
      const { headers } = await translated(
        api.verifyTOTP({ body: { code: given }, headers: browserHeaders(browser), returnHeaders: true }),
      )
      await useCode(db, auth, caller.account, given)
      return headers.getSetCookie()
    },

    async renewRecovery(caller, browser, password) {
      await proofs.confirm(caller, password)
      const { api } = await auth()
      const { backupCodes } = await translated(
        api.generateBackupCodes({ body: given(password), headers: browserHeaders(browser) }),
      )
      return backupCodes
    },

    async end(caller, browser, password) {
      await proofs.confirm(caller, password)
      const { api } = await auth()
      const { headers } = await translated(
        api.disableTwoFactor({
          body: given(password),
          headers: browserHeaders(browser),
          returnHeaders: true,
        }),
      )
      return headers.getSetCookie()
    },
  }
}

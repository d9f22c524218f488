import { findAccount, setDisplayName, setUsername } from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import type { SessionCaller } from '../core/callers.ts'
import type { Core } from '../core/core.ts'
import { hashPassword } from '../core/password-hash.ts'
import { countTry } from '../core/rate-limits/attempts.ts'
import type { Trx } from '../database/database.ts'
import { isUniqueViolation, lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { parseDisplayName, parseUsername } from '../domain/account.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Outbox } from '../mail/outbox.ts'
import { assertNotLastAdmin, removeAccount } from './accounts.ts'
import { dropOneTimeLinks } from './one-time-links.ts'
import { assertStrong, findPassword, setPassword } from './sign-in/passwords.ts'
import type { Reauthentication } from './sign-in/reauthentication.ts'
import { endSessions } from './sign-in/sessions.rows.ts'

export interface OwnChange {
  readonly username?: string | undefined
  /** Empty or null for none. */
  readonly displayName?: string | null | undefined
  readonly password?: string | undefined
}

export interface AccountNames {
  readonly username: string
  readonly displayName: string | null
}

/** Per hour: grading and hashing costs the server far more than the client. */
const NEW_PASSWORDS = 10

/** Signed-in owners' changes. `password` is the current one, if given. */
export function createOwnAccount({
  db,
  rates,
  clock,
  outbox,
  reauthentication,
}: Pick<Core, 'db' | 'rates' | 'clock'> & {
  readonly outbox: Outbox
  readonly reauthentication: Reauthentication
}) {
  /** However recent the last proof: otherwise a stolen session could lock out its owner. */
  async function confirmChange(
    caller: SessionCaller,
    present: string | null,
    change: OwnChange,
  ): Promise<void> {
    if (
      present === null &&
      change.password !== undefined &&
      (await findPassword(db, caller.account)) !== null
    ) {
      throw new Refusal('PASSWORD_REQUIRED', 'Give the password of your account for this')
    }
    await reauthentication.confirm(caller, present)
  }

  async function hashOf(caller: SessionCaller, username: string | null, next: string): Promise<string> {
    const windows = [{ subject: `new-password:${caller.account}`, limit: NEW_PASSWORDS, length: HOUR }]
    await countTry(rates, windows, 'Too many new passwords; wait a while and try again')
    await assertStrong(next, [caller.username, ...(username === null ? [] : [username])])
    return hashPassword(next)
  }

  async function replacePassword(trx: Trx, { account, by }: SessionCaller, hash: string): Promise<void> {
    await setPassword(trx, account, hash, clock.now())
    await endSessions(trx, account, by.session)
    await dropOneTimeLinks(trx, 'password', account)
    await outbox.notify(trx, account, 'password changed')
  }

  return {
    hasPassword: async ({ account }: SessionCaller): Promise<boolean> =>
      (await findPassword(db, account)) !== null,

    /**
     * Atomic; a new password ends all other sessions. Throws what `Reauthentication.confirm` throws, and
     * Refusal PASSWORD_REQUIRED, INVALID_NAME, DUPLICATE_NAME or WEAK_PASSWORD. A display name opens nothing, so it
     * alone needs no proof. Returns the resulting names.
     */
    async change(caller: SessionCaller, present: string | null, change: OwnChange): Promise<AccountNames> {
      const { account } = caller
      const displayName =
        change.displayName === undefined ? undefined : parseDisplayName(change.displayName ?? '')
      const username = change.username === undefined ? null : parseUsername(change.username)
      if (change.username !== undefined || change.password !== undefined) {
        await confirmChange(caller, present, change)
      }
      const hash = change.password === undefined ? null : await hashOf(caller, username, change.password)
      try {
        return await inTransaction(db, async (trx) => {
          if (username !== null) await setUsername(trx, account, username)
          if (displayName !== undefined) await setDisplayName(trx, account, displayName)
          if (hash !== null) await replacePassword(trx, caller, hash)
          const row = await findAccount(trx, account)
          return { username: username ?? caller.username, displayName: row?.display_name ?? null }
        })
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new Refusal('DUPLICATE_NAME', `An account "${username}" already exists`)
      }
    },

    /** Throws what `Reauthentication.confirm` throws, and Refusal LAST_ADMINISTRATOR. */
    async remove(caller: SessionCaller, password: string | null): Promise<void> {
      await reauthentication.confirm(caller, password)
      const { account, username, by } = caller
      await inTransaction(db, async (trx) => {
        await assertNotLastAdmin(trx, account)
        await lockAccount(trx, account)
        if ((await findAccount(trx, account))?.removed_at === null) {
          await removeAccount(trx, account, clock.now())
          const owner = { kind: 'owner', account, username, address: by.address } as const
          await recordAuditEntry(trx, clock, owner, { act: 'account.removed', object: username })
        }
      })
    },
  }
}

import { findAccount, setUsername } from '../database/accounts.ts'
import { isUniqueViolation, lockAccount } from '../database/differences.ts'
import { findPassword, setPassword } from '../database/identities.ts'
import { dropLinks } from '../database/one-time-links.ts'
import type { Db } from '../database/schema.ts'
import { endSessions } from '../database/sessions.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { parseUsername } from '../domain/username.ts'
import { assertNotLastAdmin, removeAccount } from './account-removal.ts'
import type { SessionCaller } from './caller.ts'
import type { Outbox } from './outbox.ts'
import { assertStrong } from './password-strength.ts'
import { hashPassword } from './passwords.ts'
import type { Proofs } from './proofs.ts'
import type { RateLimits } from './rate-limits.ts'
import { countTry } from './tries.ts'

export interface OwnChange {
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** What somebody who is signed in changes about their account. `password` is the present one, null for who has none. */
export interface OwnAccount {
  /** Whether the account has a password. */
  hasPassword(caller: SessionCaller): Promise<boolean>
  /**
   * All of it or nothing; a new password ends all other sessions. Throws what `Proofs.confirm` throws, and Refusal
   * PASSWORD_REQUIRED, INVALID_NAME,
   * DUPLICATE_NAME or WEAK_PASSWORD. Returns the name from then on.
   */
  change(caller: SessionCaller, password: string | null, change: OwnChange): Promise<string>
  /**
   * Deletes the account with everything in it, at once for everybody; rows and bytes are cleared behind that. Throws what
   * `Proofs.confirm` throws, and Refusal LAST_ADMINISTRATOR.
   */
  remove(caller: SessionCaller, password: string | null): Promise<void>
}

/** New passwords in an hour: each costs the server more to judge and to hash than to ask for. */
const NEW_PASSWORDS = 10

export function createOwnAccount(parts: {
  db: Db
  rates: RateLimits
  clock: Clock
  outbox: Outbox
  proofs: Proofs
}): OwnAccount {
  const { db, rates, clock, outbox, proofs } = parts

  /** A new password takes the present one, however recent the last proof: it locks out whoever has the other. */
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
    await proofs.confirm(caller, present)
  }

  async function hashOf(caller: SessionCaller, username: string | null, next: string): Promise<string> {
    const windows = [{ subject: `new-password:${caller.account}`, limit: NEW_PASSWORDS, length: HOUR }]
    await countTry(rates, windows, 'Too many new passwords; wait a while and try again')
    await assertStrong(next, [caller.username, ...(username === null ? [] : [username])])
    return hashPassword(next)
  }

  return {
    hasPassword: async ({ account }) => (await findPassword(db, account)) !== null,

    async change(caller, present, change) {
      const { account } = caller
      const username = change.username === undefined ? null : parseUsername(change.username)
      await confirmChange(caller, present, change)
      const hash = change.password === undefined ? null : await hashOf(caller, username, change.password)
      try {
        await inTransaction(db, async (trx) => {
          if (username !== null) await setUsername(trx, account, username)
          if (hash === null) return
          await setPassword(trx, account, hash, clock.now())
          await endSessions(trx, account, caller.by.session)
          await dropLinks(trx, 'password', account)
          await outbox.tell(trx, account, 'password changed')
        })
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new Refusal('DUPLICATE_NAME', `An account "${username}" already exists`)
      }
      return username ?? caller.username
    },

    async remove(caller, password) {
      await proofs.confirm(caller, password)
      const { account } = caller
      await inTransaction(db, async (trx) => {
        await assertNotLastAdmin(trx, account)
        await lockAccount(trx, account)
        if ((await findAccount(trx, account))?.removed_at === null) {
          await removeAccount(trx, account, clock.now())
        }
      })
    },
  }
}

import { findAccountByName, insertAccount, setAdmin } from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import type { Database } from '../database/database.ts'
import { lockMigrations } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { parseUsername } from '../domain/account.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'
import { dropOneTimeLinks } from './one-time-links.rows.ts'

export interface AdministratorCreation {
  /** True if the account was created. Throws Refusal INVALID_NAME, and ACCOUNT_DISABLED. */
  make(username: string): Promise<boolean>
}

export function createAdministratorCreation(
  db: Database,
  clock: Clock,
  random: Random,
): AdministratorCreation {
  return {
    async make(name) {
      const username = parseUsername(name)
      return inTransaction(db, async (trx) => {
        await lockMigrations(trx)
        const known = await findAccountByName(trx, username)
        if (known !== undefined && known.disabled_at !== null) {
          throw new Refusal('ACCOUNT_DISABLED', `the account "${username}" is disabled; enable it first`)
        }
        await dropOneTimeLinks(trx, 'welcome', 'all')
        if (known?.is_admin !== 1) {
          await recordAuditEntry(trx, clock, COMMAND_LINE, { act: 'admin.made', object: username })
        }
        if (known !== undefined) {
          await setAdmin(trx, known.id)
          return false
        }
        await insertAccount(trx, random, { username, created_at: clock.now(), is_admin: 1 })
        return true
      })
    },
  }
}

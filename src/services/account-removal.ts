import { lockAdmins, markAccountRemoved, topFolder } from '../database/accounts.ts'
import { dropKeys } from '../database/api-keys.ts'
import { emptyBin } from '../database/bin-emptying.ts'
import { giveUpReturns } from '../database/bin-returning.ts'
import { markFolderDeleted } from '../database/folders.ts'
import { dropIdentities } from '../database/identities.ts'
import { dropMailAddress } from '../database/mail-addresses.ts'
import { dropMailsOf } from '../database/mails.ts'
import type { Db } from '../database/schema.ts'
import { endSessions } from '../database/sessions.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'

/**
 * Deletes the account, which is locked, with everything in it: at once for everybody. Rows and bytes are cleared behind
 * that.
 */
export async function removeAccount(trx: Db, account: AccountId, now: number): Promise<void> {
  await endSessions(trx, account, null)
  await dropIdentities(trx, account)
  await dropMailAddress(trx, account)
  await dropMailsOf(trx, account)
  await dropKeys(trx, account)
  await giveUpReturns(trx, account)
  await emptyBin(trx, account)
  await markFolderDeleted(trx, await topFolder(trx, account), now)
  await markAccountRemoved(trx, account, now)
}

/**
 * Throws Refusal LAST_ADMINISTRATOR where nobody would administer the server without that account. Asked before any
 * account is locked, it stays true until the transaction ends.
 */
export async function assertNotLastAdmin(trx: Db, account: AccountId): Promise<void> {
  const admins = await lockAdmins(trx)
  if (admins.length > 1 || !admins.includes(account)) return
  throw new Refusal(
    'LAST_ADMINISTRATOR',
    'Nobody else administers this server; make another account an administrator first',
  )
}

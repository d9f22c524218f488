import { lockAdmins, markAccountRemoved, topFolder } from '../core/accounts.rows.ts'
import { dropWebhooksOf } from '../core/webhook-outbox.rows.ts'
import type { Trx } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import { emptyBin } from '../files/bin/bin-emptying.rows.ts'
import { giveUpReturns } from '../files/bin/bin-returning.rows.ts'
import { markFolderDeleted } from '../files/folders/folders.rows.ts'
import { dropMailAddress } from '../mail/mail-addresses.rows.ts'
import { dropMailsOf } from '../mail/mails.rows.ts'
import { dropKeys } from './keys/api-keys.rows.ts'
import { dropIdentities } from './sign-in/identities.rows.ts'
import { endSessions } from './sign-in/sessions.rows.ts'

/** Effective at once; jobs remove rows and bytes later. The account must be locked. */
export async function removeAccount(trx: Trx, account: AccountId, now: number): Promise<void> {
  await endSessions(trx, account, null)
  await dropIdentities(trx, account)
  await dropMailAddress(trx, account)
  await dropMailsOf(trx, account)
  await dropKeys(trx, account)
  await dropWebhooksOf(trx, account)
  await giveUpReturns(trx, account)
  await emptyBin(trx, account)
  await markFolderDeleted(trx, await topFolder(trx, account), now)
  await markAccountRemoved(trx, account, now)
}

/** Throws Refusal LAST_ADMINISTRATOR. Call before locking any account; holds until the transaction ends. */
export async function assertNotLastAdmin(trx: Trx, account: AccountId): Promise<void> {
  const admins = await lockAdmins(trx)
  if (admins.length > 1 || !admins.includes(account)) return
  throw new Refusal(
    'LAST_ADMINISTRATOR',
    'Nobody else administers this server; make another account an administrator first',
  )
}

/** Tells administrators by mail what became of the server's own backups, in the transaction that notes it. */
import type { Trx } from '../../database/database.ts'
import { DAY } from '../../domain/clock.ts'
import { type AccountId, GUESTS } from '../../domain/ids.ts'
import type { Letter } from '../../domain/letter.ts'
import type { Outbox } from '../../mail/outbox.ts'
import { administratorsWithMail } from './backup-mails.rows.ts'

const ACCOUNTS = 50
/** Milliseconds for which the mail is worth sending. */
const LASTS = 7 * DAY

export interface BackupMails {
  readonly outbox: Outbox
  /** Path of the link that ends such mails. */
  readonly unsubscribePath: (account: AccountId) => string
}

export async function tellAdministrators(
  trx: Trx,
  { outbox, unsubscribePath }: BackupMails,
  write: (to: { readonly username: string; readonly unsubscribePath: string }) => Letter,
): Promise<void> {
  if (!outbox.isOpen) return
  let after: AccountId = GUESTS
  for (;;) {
    const found = await administratorsWithMail(trx, after, ACCOUNTS)
    for (const { account_id: account, username, address, language } of found) {
      after = account
      const letter = write({ username, unsubscribePath: unsubscribePath(account) })
      await outbox.put(trx, { account, to: address, language, letter, lasts: LASTS })
    }
    if (found.length < ACCOUNTS) return
  }
}

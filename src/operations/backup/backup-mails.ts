/** Mails to administrators, queued in the transaction that records the outcome. */
import type { Trx } from '../../database/database.ts'
import { DAY } from '../../domain/clock.ts'
import { type AccountId, GUESTS } from '../../domain/ids.ts'
import type { MailContent } from '../../domain/mail-content.ts'
import type { EndableMails } from '../../mail/outbox.ts'
import { administratorsWithMail } from './backup-mails.rows.ts'

const ACCOUNTS = 50
const LASTS = 7 * DAY

export async function mailAdministrators(
  trx: Trx,
  { outbox, unsubscribePath }: EndableMails,
  write: (to: { readonly username: string; readonly unsubscribePath: string }) => MailContent,
): Promise<void> {
  if (!outbox.isOpen) return
  let after: AccountId = GUESTS
  for (;;) {
    const found = await administratorsWithMail(trx, after, ACCOUNTS)
    for (const { account_id: account, username, address, language } of found) {
      after = account
      const content = write({ username, unsubscribePath: unsubscribePath(account) })
      await outbox.put(trx, { account, to: address, language, content, lasts: LASTS })
    }
    if (found.length < ACCOUNTS) return
  }
}

/** Tells administrators by mail what became of the server's own backups, in the transaction that notes it. */
import type { Trx } from '../../database/database.ts'
import { DAY } from '../../domain/clock.ts'
import { type AccountId, GUESTS } from '../../domain/ids.ts'
import type { Letter } from '../../domain/letter.ts'
import type { EndableMails } from '../../mail/outbox.ts'
import { administratorsWithMail } from './backup-mails.rows.ts'

const ACCOUNTS = 50
/** Milliseconds for which the mail is worth sending. */
const LASTS = 7 * DAY

export async function tellAdministrators(
  trx: Trx,
  { outbox, unsubscribePath }: EndableMails,
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

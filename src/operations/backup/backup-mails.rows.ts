import type { Queryable } from '../../database/database.ts'
import type { AccountId } from '../../domain/ids.ts'
import { type MailRecipient, mailRecipients } from '../../mail/recipients.rows.ts'

export function administratorsWithMail(
  db: Queryable,
  after: AccountId,
  limit: number,
): Promise<MailRecipient[]> {
  return mailRecipients(db, after, limit).where('accounts.is_admin', '=', 1).execute()
}

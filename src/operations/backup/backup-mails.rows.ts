import type { Queryable } from '../../database/database.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Language } from '../../domain/language.ts'
import type { MailAddress } from '../../domain/mail-address.ts'

export interface Administrator {
  readonly account_id: AccountId
  readonly username: string
  readonly address: MailAddress
  readonly language: Language
}

/** Administrators after `after`, by id, whose address is known and who want to be warned. */
export function administratorsWithMail(
  db: Queryable,
  after: AccountId,
  limit: number,
): Promise<Administrator[]> {
  return db
    .selectFrom('mail_addresses')
    .innerJoin('accounts', 'accounts.id', 'mail_addresses.account_id')
    .select(['mail_addresses.account_id', 'accounts.username', 'mail_addresses.language'])
    .select((row) => row.ref('mail_addresses.address').$notNull().as('address'))
    .where('mail_addresses.account_id', '>', after)
    .where('mail_addresses.address', 'is not', null)
    .where('mail_addresses.warnings', '=', 1)
    .where('accounts.is_admin', '=', 1)
    .where('accounts.disabled_at', 'is', null)
    .orderBy('mail_addresses.account_id')
    .limit(limit)
    .execute()
}

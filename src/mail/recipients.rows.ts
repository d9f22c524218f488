import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Queryable, Trx } from '../database/database.ts'
import type { Language } from '../domain/account.ts'
import type { AccountId } from '../domain/ids.ts'
import type { MailAddress } from '../domain/mail-address.ts'

export interface MailRecipient {
  readonly account_id: AccountId
  readonly username: string
  readonly address: MailAddress
  readonly language: Language
}

export function mailRecipients(db: Queryable, after: AccountId, limit: number) {
  return db
    .selectFrom('mail_addresses')
    .innerJoin('accounts', 'accounts.id', 'mail_addresses.account_id')
    .select(['mail_addresses.account_id', 'accounts.username', 'mail_addresses.language'])
    .select((row) => row.ref('mail_addresses.address').$notNull().as('address'))
    .where('mail_addresses.account_id', '>', after)
    .where('mail_addresses.address', 'is not', null)
    .where('mail_addresses.warnings', '=', 1)
    .where('accounts.disabled_at', 'is', null)
    .orderBy('mail_addresses.account_id')
    .limit(limit)
}

export function notMailedSince(
  at: 'warned_at' | 'damage_told_at' | 'events_told_at',
  time: number,
): RawBuilder<SqlBool> {
  const column = sql.ref(`mail_addresses.${at}`)
  return sql<SqlBool>`(${column} is null or ${column} <= ${time})`
}

/** Matches no row if the recipient has opted out or changed the address meanwhile. */
export function updateRecipient(trx: Trx, { account_id, address }: MailRecipient) {
  return trx
    .updateTable('mail_addresses')
    .where('account_id', '=', account_id)
    .where('address', '=', address)
    .where('warnings', '=', 1)
}

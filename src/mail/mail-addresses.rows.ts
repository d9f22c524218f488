import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import type { Row } from '../database/schema.ts'
import type { Language } from '../domain/account.ts'
import type { DownloadMails } from '../domain/event-kinds.ts'
import type { AccountId } from '../domain/ids.ts'
import { foldMailAddress, type MailAddress } from '../domain/mail-address.ts'

const columns = ['account_id', 'address', 'pending', 'language', 'warnings', 'download_mails'] as const

export type MailAddressRow = Row<'mail_addresses', (typeof columns)[number]>

export function findMailAddress(db: Queryable, account: AccountId): Promise<MailAddressRow | undefined> {
  return db.selectFrom('mail_addresses').select(columns).where('account_id', '=', account).executeTakeFirst()
}

export async function findAccountByAddress(db: Database, folded: string): Promise<AccountId | null> {
  const row = await db
    .selectFrom('mail_addresses')
    .select('account_id')
    .where('address_folded', '=', folded)
    .executeTakeFirst()
  return row?.account_id ?? null
}

/** Sets the unverified address, beside the verified one. Null clears it. */
export async function setPendingAddress(
  trx: Trx,
  account: AccountId,
  pending: MailAddress | null,
  language: Language,
): Promise<void> {
  await trx
    .insertInto('mail_addresses')
    .values({ account_id: account, pending, language })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ pending, language }))
    .execute()
}

/** Throws a unique violation when another account has it. */
export async function setVerifiedAddress(trx: Trx, account: AccountId, address: MailAddress): Promise<void> {
  await trx
    .updateTable('mail_addresses')
    .set({ address, address_folded: foldMailAddress(address), pending: null })
    .where('account_id', '=', account)
    .execute()
}

export interface MailWishes {
  readonly warnings?: boolean | undefined
  readonly downloads?: DownloadMails | undefined
}

/** At least one wish; works before there is an address. */
export async function setMailWishes(
  db: Database,
  account: AccountId,
  { warnings, downloads }: MailWishes,
  language: Language,
): Promise<void> {
  const wishes = {
    ...(warnings === undefined ? {} : { warnings: warnings ? (1 as const) : (0 as const) }),
    ...(downloads === undefined ? {} : { download_mails: downloads }),
  }
  await db
    .insertInto('mail_addresses')
    .values({ account_id: account, ...wishes, language })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(wishes))
    .execute()
}

/** For a request without a session, from the link in a mail. */
export async function endWarnings(db: Database, account: AccountId): Promise<void> {
  await db.updateTable('mail_addresses').set({ warnings: 0 }).where('account_id', '=', account).execute()
}

export async function dropPendingAddress(trx: Trx, account: AccountId): Promise<void> {
  await trx.updateTable('mail_addresses').set({ pending: null }).where('account_id', '=', account).execute()
}

export async function dropMailAddress(trx: Trx, account: AccountId): Promise<void> {
  await trx.deleteFrom('mail_addresses').where('account_id', '=', account).execute()
}

export type AccountToWarn = MailRecipient &
  Row<'mail_addresses', 'warned_at' | 'warned_until'> &
  Row<'accounts', 'inactive_days'>

export function accountsToWarn(
  db: Database,
  after: AccountId,
  before: number,
  limit: number,
): Promise<AccountToWarn[]> {
  return mailRecipients(db, after, limit)
    .select(['mail_addresses.warned_at', 'mail_addresses.warned_until', 'accounts.inactive_days'])
    .where(notMailedSince('warned_at', before))
    .execute()
}

/** False when another node has warned the account meanwhile. */
export async function noteWarned(
  trx: Trx,
  seen: AccountToWarn,
  now: number,
  until: number,
): Promise<boolean> {
  const { numUpdatedRows } = await updateRecipient(trx, seen)
    .set({ warned_at: now, warned_until: until })
    .where('warned_at', 'is not distinct from', seen.warned_at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** For accounts with these own days (null: without), whose deletion was postponed, or after a wrong clock. */
export async function forgetWarnedAfter(db: Database, days: number | null, until: number): Promise<void> {
  await db
    .updateTable('mail_addresses')
    .set({ warned_until: until })
    .where('warned_until', '>', until)
    .where('account_id', 'in', (row) =>
      row
        .selectFrom('accounts')
        .select('accounts.id')
        .where('accounts.inactive_days', days === null ? 'is' : '=', days),
    )
    .execute()
}

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

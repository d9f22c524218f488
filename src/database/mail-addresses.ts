import type { AccountId } from '../domain/ids.ts'
import type { Language } from '../domain/language.ts'
import { foldMailAddress, type MailAddress } from '../domain/mail-address.ts'
import type { Db } from './schema.ts'

export interface MailAddressRow {
  readonly account_id: AccountId
  readonly address: MailAddress | null
  readonly pending: MailAddress | null
  readonly language: Language
  readonly warnings: 0 | 1
  readonly warned_at: number | null
  readonly warned_until: number | null
}

const columns = [
  'account_id',
  'address',
  'pending',
  'language',
  'warnings',
  'warned_at',
  'warned_until',
] as const

export function findMailAddress(db: Db, account: AccountId): Promise<MailAddressRow | undefined> {
  return db.selectFrom('mail_addresses').select(columns).where('account_id', '=', account).executeTakeFirst()
}

/** Whose verified address it is. */
export async function findAccountByAddress(db: Db, folded: string): Promise<AccountId | null> {
  const row = await db
    .selectFrom('mail_addresses')
    .select('account_id')
    .where('address_folded', '=', folded)
    .executeTakeFirst()
  return row?.account_id ?? null
}

/** Notes what the account wants as its address, beside the one that it has. Null: nothing else than it has. */
export async function setPendingAddress(
  trx: Db,
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

/** Throws a unique violation when it is the address of another account. */
export async function setVerifiedAddress(trx: Db, account: AccountId, address: MailAddress): Promise<void> {
  await trx
    .updateTable('mail_addresses')
    .set({ address, address_folded: foldMailAddress(address), pending: null })
    .where('account_id', '=', account)
    .execute()
}

/** Notes whether the account wants to be told of files that go, also before it has an address. */
export async function setWarnings(
  db: Db,
  account: AccountId,
  warnings: 0 | 1,
  language: Language,
): Promise<void> {
  await db
    .insertInto('mail_addresses')
    .values({ account_id: account, warnings, language })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ warnings }))
    .execute()
}

/** The same for who has no session, and had an address once. */
export async function endWarnings(db: Db, account: AccountId): Promise<void> {
  await db.updateTable('mail_addresses').set({ warnings: 0 }).where('account_id', '=', account).execute()
}

/** Of an address that is not confirmed yet, it is forgotten that it was wanted. */
export async function dropPendingAddress(trx: Db, account: AccountId): Promise<void> {
  await trx.updateTable('mail_addresses').set({ pending: null }).where('account_id', '=', account).execute()
}

export async function dropMailAddress(trx: Db, account: AccountId): Promise<void> {
  await trx.deleteFrom('mail_addresses').where('account_id', '=', account).execute()
}

export interface AccountToWarn extends MailAddressRow {
  readonly address: MailAddress
  readonly username: string
}

/** Accounts past `after`, in order, that want to be told of files that go and were not since `before`. */
export async function accountsToWarn(
  db: Db,
  after: AccountId,
  before: number,
  limit: number,
): Promise<AccountToWarn[]> {
  const rows = await db
    .selectFrom('mail_addresses')
    .innerJoin('accounts', 'accounts.id', 'mail_addresses.account_id')
    .select(columns)
    .select('accounts.username')
    .where('account_id', '>', after)
    .where('address', 'is not', null)
    .where('warnings', '=', 1)
    .where((row) => row.or([row('warned_at', 'is', null), row('warned_at', '<=', before)]))
    .where('accounts.disabled_at', 'is', null)
    .orderBy('account_id')
    .limit(limit)
    .$narrowType<{ address: MailAddress }>()
    .execute()
  return rows
}

/** Notes that the account is told, unless somebody else has told it meanwhile: then false. */
export async function noteWarned(
  trx: Db,
  seen: MailAddressRow,
  now: number,
  until: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('mail_addresses')
    .set({ warned_at: now, warned_until: until })
    .where('account_id', '=', seen.account_id)
    .where('warned_at', 'is not distinct from', seen.warned_at)
    .where('warnings', '=', 1)
    .where('address', '=', seen.address)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Files last used since then are told of again: they go later than it was said, or the clock was wrong. */
export async function forgetWarnedAfter(db: Db, until: number): Promise<void> {
  await db
    .updateTable('mail_addresses')
    .set({ warned_until: until })
    .where('warned_until', '>', until)
    .execute()
}

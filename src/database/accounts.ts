import { sql } from 'kysely'
import { type AccountId, type FolderId, GUESTS } from '../domain/ids.ts'
import { makeFolderIdentifier, type Random } from '../domain/random.ts'
import { lockMigrations } from './differences.ts'
import type { Db } from './schema.ts'
import { inTransaction } from './transactions.ts'

export interface AccountRow {
  readonly id: AccountId
  readonly username: string
  readonly created_at: number
  readonly disabled_at: number | null
  readonly storage_used: number
  readonly storage_reserved: number
  readonly files_count: number
  readonly folders_count: number
  readonly bin_bytes: number
  readonly bin_entries: number
}

/** Adds the account with its top level. Throws a unique violation when the name is taken. */
export async function insertAccount(
  trx: Db,
  random: Random,
  account: { id?: AccountId; username: string; created_at: number },
): Promise<AccountId> {
  const { id } = await trx.insertInto('accounts').values(account).returning('id').executeTakeFirstOrThrow()
  await trx
    .insertInto('folders')
    .values({
      identifier: makeFolderIdentifier(random),
      account_id: id,
      name: '',
      is_public: 1,
      created_at: account.created_at,
    })
    .execute()
  return id
}

/** Makes the row that stands for all guests, once. Its name cannot be taken by anybody. */
export async function ensureGuests(db: Db, random: Random, now: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockMigrations(trx)
    if ((await findAccount(trx, GUESTS)) === undefined) {
      await insertAccount(trx, random, { id: GUESTS, username: '*guests*', created_at: now })
    }
  })
}

export function findAccount(db: Db, id: AccountId): Promise<AccountRow | undefined> {
  return db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findAccountByName(db: Db, username: string): Promise<AccountRow | undefined> {
  return db
    .selectFrom('accounts')
    .selectAll()
    .where('username', '=', username)
    .where('id', '!=', GUESTS)
    .executeTakeFirst()
}

export function listAccounts(db: Db): Promise<AccountRow[]> {
  return db.selectFrom('accounts').selectAll().where('id', '!=', GUESTS).orderBy('id').execute()
}

export async function setAccountDisabled(db: Db, id: AccountId, at: number): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ disabled_at: sql`coalesce(disabled_at, ${at})` })
    .where('id', '=', id)
    .execute()
}

/** The row of the account's top level. */
export async function topFolder(db: Db, account: AccountId): Promise<FolderId> {
  const row = await db
    .selectFrom('folders')
    .select('id')
    .where('account_id', '=', account)
    .where('parent_id', 'is', null)
    .executeTakeFirstOrThrow()
  return row.id
}

/** Adds to the account's totals; negative numbers take away. */
export async function changeTotals(
  trx: Db,
  account: AccountId,
  change: { storage?: number; files?: number; folders?: number },
): Promise<void> {
  await trx
    .updateTable('accounts')
    .set((row) => ({
      storage_used: row('storage_used', '+', change.storage ?? 0),
      files_count: row('files_count', '+', change.files ?? 0),
      folders_count: row('folders_count', '+', change.folders ?? 0),
    }))
    .where('id', '=', account)
    .execute()
}

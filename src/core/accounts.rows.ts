import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, lockMigrations } from '../database/differences.ts'
import { lookup, preparedChange } from '../database/prepared.ts'
import type { Row } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type AccountId, type FolderId, GUESTS } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { makeFolderIdentifier, type Random } from '../domain/random.ts'
import { sortKey } from '../domain/sort-key.ts'
import { NEARLY_FULL, ROOM_AGAIN } from '../domain/storage.ts'

export type AccountRow = Row<'accounts'>

/** Whether a row of `accounts` has space for so many bytes more: by its quota, or without one by the limit. */
export function hasSpace(bytes: RawBuilder<unknown>, limit: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`(accounts.storage_used + accounts.storage_reserved + ${bytes} <= coalesce(accounts.quota, ${limit}))`
}

/** Adds the account with its top level. Throws a unique violation when the name is taken. */
export async function insertAccount(
  trx: Trx,
  random: Random,
  account: { id?: AccountId; username: string; created_at: number; is_admin?: 0 | 1 },
): Promise<AccountId> {
  const row = { ...account, name_sort: sortKey(account.username) }
  const { id } = await trx.insertInto('accounts').values(row).returning('id').executeTakeFirstOrThrow()
  await trx
    .insertInto('folders')
    .values({
      identifier: makeFolderIdentifier(random),
      account_id: id,
      name: '',
      name_sort: '',
      is_public: 1,
      created_at: account.created_at,
    })
    .execute()
  return id
}

/** Creates the row that stands for all guests, unless it exists. No user can register its name. */
export async function ensureGuests(db: Database, random: Random, now: number): Promise<void> {
  if ((await findAccount(db, GUESTS)) !== undefined) return
  await inTransaction(db, async (trx) => {
    await lockMigrations(trx)
    if ((await findAccount(trx, GUESTS)) === undefined) {
      await insertAccount(trx, random, { id: GUESTS, username: '*guests*', created_at: now })
    }
  })
}

export function findAccount(db: Queryable, id: AccountId): Promise<AccountRow | undefined> {
  return accountById(db, id)
}

const accountById = lookup<AccountId, AccountRow>({
  column: 'accounts.id',
  build: (db, isWanted) => db.selectFrom('accounts').selectAll().where(isWanted),
  valueIn: (row) => row.id,
})

export function findAccountByName(db: Queryable, username: string): Promise<AccountRow | undefined> {
  return db
    .selectFrom('accounts')
    .selectAll()
    .where('username', '=', username)
    .where('id', '!=', GUESTS)
    .executeTakeFirst()
}

/**
 * Disables the account at `at`, or enables it with null. An account that is disabled keeps its earlier time.
 */
export async function setAccountDisabled(db: Queryable, id: AccountId, at: number | null): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ disabled_at: at === null ? null : sql`coalesce(disabled_at, ${at})` })
    .where('id', '=', id)
    .execute()
}

export async function setQuota(trx: Trx, id: AccountId, quota: number | null): Promise<void> {
  await trx.updateTable('accounts').set({ quota }).where('id', '=', id).execute()
}

export async function setInactiveDays(trx: Trx, id: AccountId, inactive_days: number | null): Promise<void> {
  await trx.updateTable('accounts').set({ inactive_days }).where('id', '=', id).execute()
}

/** Frees the name for others and prevents sign-in. The account's content is deleted later, by a job. */
export async function markAccountRemoved(trx: Trx, id: AccountId, now: number): Promise<void> {
  // Not a valid username, so it cannot collide with one.
  const username = `*removed-${id}*`
  await trx
    .updateTable('accounts')
    .set({
      username,
      name_sort: sortKey(username),
      display_name: null,
      disabled_at: now,
      removed_at: now,
      is_admin: 0,
      storage_used: 0,
      files_count: 0,
      folders_count: 0,
    })
    .where('id', '=', id)
    .execute()
}

/** Tables whose rows may have been inserted for an account while it was being removed. */
const OWNED_TABLES = [
  'request_days',
  'changes',
  'api_keys',
  'sessions',
  'identities',
  'passkeys',
  'two_factors',
  'one_time_links',
  'mail_addresses',
  'mails',
  'file_warnings',
  'webhooks',
  'link_events',
  'links',
] as const

/** Deletes the rows of at most `limit` removed accounts that own nothing any more; returns how many. */
export async function dropRemovedAccounts(db: Database, limit: number): Promise<number> {
  const rows = await db
    .selectFrom('accounts')
    .select('id')
    .where('removed_at', 'is not', null)
    .where(({ not, exists, selectFrom, and }) =>
      and(
        (['folders', 'files', 'uploads', 'reservations', 'bin'] as const).map((table) =>
          not(exists(selectFrom(table).select('account_id').whereRef('account_id', '=', 'accounts.id'))),
        ),
      ),
    )
    .limit(limit)
    .execute()
  for (const { id } of rows) {
    await inTransaction(db, async (trx) => {
      for (const table of OWNED_TABLES) await trx.deleteFrom(table).where('account_id', '=', id).execute()
      await trx.deleteFrom('accounts').where('id', '=', id).execute()
    })
  }
  return rows.length
}

/** Throws a unique violation when the name is taken. */
export async function setUsername(trx: Trx, id: AccountId, username: string): Promise<void> {
  const name_sort = sortKey(username)
  await trx.updateTable('accounts').set({ username, name_sort }).where('id', '=', id).execute()
}

export async function setDisplayName(trx: Trx, id: AccountId, display_name: string | null): Promise<void> {
  await trx.updateTable('accounts').set({ display_name }).where('id', '=', id).execute()
}

export async function setAdmin(trx: Trx, id: AccountId, is_admin: 0 | 1 = 1): Promise<void> {
  await trx.updateTable('accounts').set({ is_admin }).where('id', '=', id).execute()
}

/**
 * Locks the administrators until the transaction ends, so that none is added or removed meanwhile; returns
 * them.
 */
export async function lockAdmins(trx: Trx): Promise<AccountId[]> {
  const rows = await trx
    .selectFrom('accounts')
    .select('id')
    .where('is_admin', '=', sql.lit(1))
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .modifyEnd(forUpdate(trx))
    .execute()
  return rows.map((row) => row.id)
}

/** Whether an enabled administrator exists. */
export async function hasAdmin(db: Queryable): Promise<boolean> {
  const row = await db
    .selectFrom('accounts')
    .select('id')
    .where('is_admin', '=', 1)
    .where('disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The id of the account's root folder. */
export async function topFolder(db: Queryable, account: AccountId): Promise<FolderId> {
  const row = await topOf(db, account)
  if (row === undefined) throw new Error(`account ${account} has no root folder`)
  return row.id
}

const topOf = lookup<AccountId, { readonly id: FolderId; readonly account_id: AccountId }>({
  column: 'folders.account_id',
  build: (db, isWanted) =>
    db.selectFrom('folders').select(['id', 'account_id']).where(isWanted).where('parent_id', 'is', null),
  valueIn: (row) => row.account_id,
})

/** Adds to the account's totals, under its lock; negative numbers take away. */
export async function changeTotals(
  trx: Trx,
  account: AccountId,
  change: { storage?: number; files?: number; folders?: number },
): Promise<void> {
  assertInvariant('account-is-locked', trx.locked.has(account), () => `account ${account}`)
  const { storage = 0, files = 0, folders = 0 } = change
  await addToTotals(trx, storage, files, folders, account)
}

const addToTotals = preparedChange(
  (db, storage: number, files: number, folders: number, account: AccountId) =>
    db
      .updateTable('accounts')
      .set((row) => ({
        storage_used: row('storage_used', '+', storage),
        files_count: row('files_count', '+', files),
        folders_count: row('folders_count', '+', folders),
      }))
      .where('id', '=', account),
)

/** Up to `most` accounts whose storage is nearly full, by the rule of `isNearlyFull`, and whose owners were not notified of that. */
export function accountsNearlyFull(
  db: Database,
  storageLimit: number,
  most: number,
): Promise<{ readonly id: AccountId; readonly storage_used: number }[]> {
  return db.readPool.rows(
    db
      .selectFrom('accounts')
      .select(['id', 'storage_used'])
      .where('id', '<>', GUESTS)
      .where('removed_at', 'is', null)
      .where('nearly_full_at', 'is', null)
      .where('storage_used', '>', 0)
      .where(sql<SqlBool>`storage_used * 100 >= coalesce(quota, ${storageLimit}) * ${sql.lit(NEARLY_FULL)}`)
      .limit(most),
  )
}

/** False when another node has notified the owner meanwhile. */
export async function noteNearlyFull(trx: Trx, id: AccountId, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('accounts')
    .set({ nearly_full_at: now })
    .where('id', '=', id)
    .where('nearly_full_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Accounts that have room again are told anew the next time. */
export async function forgetNearlyFull(db: Database, storageLimit: number): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ nearly_full_at: null })
    .where('nearly_full_at', 'is not', null)
    .where(sql<SqlBool>`storage_used * 100 < coalesce(quota, ${storageLimit}) * ${sql.lit(ROOM_AGAIN)}`)
    .execute()
}

import { sql } from 'kysely'
import { type AccountId, type FolderId, GUESTS } from '../domain/ids.ts'
import { makeFolderIdentifier, type Random } from '../domain/random.ts'
import { forUpdate, lockMigrations } from './differences.ts'
import { prepared, preparedChange } from './prepared.ts'
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
  readonly is_admin: 0 | 1
  readonly two_factor: 0 | 1
  readonly removed_at: number | null
  readonly bin_bytes: number
  readonly bin_entries: number
  readonly quota: number | null
}

/** Adds the account with its top level. Throws a unique violation when the name is taken. */
export async function insertAccount(
  trx: Db,
  random: Random,
  account: { id?: AccountId; username: string; created_at: number; is_admin?: 0 | 1 },
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

export async function findAccount(db: Db, id: AccountId): Promise<AccountRow | undefined> {
  return (await accountById(db, id))[0]
}

const accountById = prepared((db, id: AccountId) =>
  db.selectFrom('accounts').selectAll().where('id', '=', id),
)

export function findAccountByName(db: Db, username: string): Promise<AccountRow | undefined> {
  return db
    .selectFrom('accounts')
    .selectAll()
    .where('username', '=', username)
    .where('id', '!=', GUESTS)
    .executeTakeFirst()
}

export function listAccounts(db: Db): Promise<AccountRow[]> {
  return db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '!=', GUESTS)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute()
}

/** `at` null enables it again. One that is disabled already stays so since then. */
export async function setAccountDisabled(db: Db, id: AccountId, at: number | null): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ disabled_at: at === null ? null : sql`coalesce(disabled_at, ${at})` })
    .where('id', '=', id)
    .execute()
}

export async function setQuota(trx: Db, id: AccountId, quota: number | null): Promise<void> {
  await trx.updateTable('accounts').set({ quota }).where('id', '=', id).execute()
}

/** Gives the name free for others, and lets nobody in any more. What the account holds is cleared behind that. */
export async function markAccountRemoved(trx: Db, id: AccountId, now: number): Promise<void> {
  await trx
    .updateTable('accounts')
    .set({
      // No name that anybody can have.
      username: `*removed-${id}*`,
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

/** What may have been made for an account in the moment in which it was removed. */
const BELONGINGS = [
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
] as const

/** Removes the rows of removed accounts of which nothing else is left, at most `limit`; returns how many. */
export async function dropRemovedAccounts(db: Db, limit: number): Promise<number> {
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
      for (const table of BELONGINGS) await trx.deleteFrom(table).where('account_id', '=', id).execute()
      await trx.deleteFrom('accounts').where('id', '=', id).execute()
    })
  }
  return rows.length
}

/** Throws a unique violation when the name is taken. */
export async function setUsername(trx: Db, id: AccountId, username: string): Promise<void> {
  await trx.updateTable('accounts').set({ username }).where('id', '=', id).execute()
}

export async function setAdmin(trx: Db, id: AccountId, is_admin: 0 | 1 = 1): Promise<void> {
  await trx.updateTable('accounts').set({ is_admin }).where('id', '=', id).execute()
}

/** Who can administer the server. Until the transaction ends, nobody else of them is made or unmade. */
export async function lockAdmins(trx: Db): Promise<AccountId[]> {
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

/** Whether somebody can administer the server. */
export async function hasAdmin(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('accounts')
    .select('id')
    .where('is_admin', '=', 1)
    .where('disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The row of the account's top level. */
export async function topFolder(db: Db, account: AccountId): Promise<FolderId> {
  const [row] = await topOf(db, account)
  if (row === undefined) throw new Error(`account ${account} has no top level`)
  return row.id
}

const topOf = prepared((db, account: AccountId) =>
  db.selectFrom('folders').select('id').where('account_id', '=', account).where('parent_id', 'is', null),
)

/** Adds to the account's totals; negative numbers take away. */
export async function changeTotals(
  trx: Db,
  account: AccountId,
  change: { storage?: number; files?: number; folders?: number },
): Promise<void> {
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

import { type SelectQueryBuilder, sql } from 'kysely'
import { changeTotals } from '../core/accounts.rows.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, wholeSum } from '../database/differences.ts'
import type { Removal, Row, Tables } from '../database/schema.ts'
import {
  type AccountId,
  type BinEntryId,
  type BlobId,
  type FileId,
  type FolderId,
  GUESTS,
} from '../domain/ids.ts'
import { markAlong } from './folders/folder-clearing.rows.ts'
import { changeFiles, folderChain, isGone } from './folders/folders.rows.ts'

const columns = ['id', 'account_id', 'folder_id', 'size'] as const

export type RemovableFile = Row<'files', (typeof columns)[number]>

export interface FileHolder {
  readonly account_id: AccountId
  /** 0 for never; null: those of the settings. */
  readonly inactive_days: number | null
}

/** Takes live files out of every list, link and total. */
export async function markRemoved(
  trx: Trx,
  files: readonly RemovableFile[],
  removal: Removal,
  at: number,
): Promise<void> {
  await setRemoved(trx, files, removal, at)
  await adjustTotals(trx, files, -1)
}

/** Files binned with a folder get the bin's mark instead: they do not expire. */
export async function markExpired(trx: Trx, files: readonly RemovableFile[], at: number): Promise<void> {
  const binned = await foldersInBin(trx, files)
  const expired = files.filter((file) => !binned.has(file.folder_id))
  const along = files.filter((file) => binned.has(file.folder_id))
  if (expired.length > 0) await markRemoved(trx, expired, 'expired', at)
  if (along.length > 0) await setRemoved(trx, along, 'folder binned', at)
  // The folder's mark lets a restoration find them.
  for (const [folder, entry] of binned) await markAlong(trx, folder, entry, at)
}

/** Leaves files in the bin; returns the unmarked ones. */
export async function markAlive(trx: Trx, files: readonly RemovableFile[]): Promise<RemovableFile[]> {
  const binned = await foldersInBin(trx, files)
  const alive = files.filter((file) => !binned.has(file.folder_id))
  if (alive.length === 0) return alive
  await setRemoved(trx, alive, null, 0)
  await adjustTotals(trx, alive, 1)
  await lookAgain(trx, new Set(alive.map((file) => file.account_id)))
  return alive
}

async function foldersInBin(
  trx: Trx,
  files: readonly RemovableFile[],
): Promise<ReadonlyMap<FolderId, BinEntryId>> {
  const binned = new Map<FolderId, BinEntryId>()
  for (const folder of new Set(files.map((file) => file.folder_id))) {
    const deleted = (await folderChain(trx, folder)).filter((step) => step.deleted_at !== null)
    const entry = deleted.at(-1)?.bin_id ?? null
    if (entry !== null) binned.set(folder, entry)
  }
  return binned
}

/** Leaves the totals unchanged. */
export async function setRemoved(
  trx: Trx,
  files: readonly { readonly id: FileId }[],
  removal: Removal | null,
  at: number,
): Promise<void> {
  await trx
    .updateTable('files')
    .set({ removed_at: removal === null ? null : at, removal })
    .where(
      'id',
      'in',
      files.map((file) => file.id),
    )
    .execute()
}

async function adjustTotals(trx: Trx, files: readonly RemovableFile[], sign: 1 | -1): Promise<void> {
  const folders = new Map<FolderId, { account: AccountId; files: number; bytes: number }>()
  for (const { folder_id, account_id, size } of files) {
    const folder = folders.get(folder_id) ?? { account: account_id, files: 0, bytes: 0 }
    folder.files += sign
    folder.bytes += sign * size
    folders.set(folder_id, folder)
  }
  for (const [folder, { account, files, bytes }] of folders) {
    // A deleted folder's files have left the totals.
    if (await isGone(trx, folder)) continue
    await changeFiles(trx, folder, files, bytes)
    await changeTotals(trx, account, { storage: bytes, files })
  }
}

/** By the accounts' own days; null for accounts without. */
export type AccountGroup = 'guests' | number | null

/** Excludes accounts whose files never expire. */
export async function ownInactiveDays(db: Database): Promise<number[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('inactive_days')
    .distinct()
    .where('inactive_days', '>', 0)
    .execute()
  return rows.flatMap(({ inactive_days: days }) => (days === null ? [] : [days]))
}

/** Accounts with files last used before `cutoff`, or marked after `latest` by a clock that was ahead. */
export async function accountsToSearch(
  db: Database,
  group: AccountGroup,
  { cutoff, latest }: { readonly cutoff: number; readonly latest: number },
  limit: number,
): Promise<AccountId[]> {
  const found: AccountId[] = []
  for (const [is, mark] of [
    ['<', cutoff],
    ['>', latest],
  ] as const) {
    const rows = await accountsByMark(db, group, is, mark, limit).execute()
    found.push(...rows.map(({ id }) => id))
  }
  return found
}

export function accountsByMark(
  db: Database,
  group: AccountGroup,
  is: '<' | '>',
  mark: number,
  limit: number,
) {
  const accounts = db
    .selectFrom('accounts')
    .select('id')
    .where('unused_since', is, mark)
    .orderBy('unused_since')
    .limit(limit)
  if (group === 'guests') return accounts.where('id', '=', GUESTS)
  // "is not distinct from" would not use the index on PostgreSQL.
  const days = accounts.where('inactive_days', group === null ? 'is' : '=', group)
  return days.where('id', '<>', GUESTS)
}

/** Sets at most `latest`: later files are used later. */
export async function setUnusedSince(
  trx: Trx,
  accounts: readonly AccountId[],
  latest: number,
): Promise<void> {
  await trx
    .updateTable('accounts')
    .set(({ fn, selectFrom, val }) => ({
      unused_since: fn.coalesce(
        selectFrom('files')
          .select('files.last_used_at')
          .whereRef('files.account_id', '=', 'accounts.id')
          .where('files.removed_at', 'is', null)
          .where('files.last_used_at', '<', latest)
          .orderBy('files.last_used_at')
          .limit(sql.lit(1))
          .$asScalar(),
        val(latest),
      ),
    }))
    .where('id', 'in', accounts)
    .execute()
}

async function lookAgain(trx: Trx, accounts: ReadonlySet<AccountId>): Promise<void> {
  await trx
    .updateTable('accounts')
    .set({ unused_since: 0 })
    .where('id', 'in', [...accounts])
    .execute()
}

/** With `among`: only those, locked. */
export function unusedFiles(
  trx: Trx,
  accounts: readonly AccountId[],
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  if (among === undefined) return firstUnused(trx, accounts, cutoff, limit).execute()
  return lockedAmong(trx, filesUnused(trx, accounts, cutoff), among)
}

function filesUnused(db: Queryable, accounts: readonly AccountId[], cutoff: number) {
  return db
    .selectFrom('files')
    .select(columns)
    .where('account_id', 'in', accounts)
    .where('removed_at', 'is', null)
    .where('last_used_at', '<', cutoff)
}

/** In index order: PostgreSQL would otherwise read the whole table. */
export function firstUnused(db: Queryable, accounts: readonly AccountId[], cutoff: number, limit: number) {
  return filesUnused(db, accounts, cutoff).orderBy('account_id').orderBy('last_used_at').limit(limit)
}

function lockedAmong(
  trx: Trx,
  files: SelectQueryBuilder<Tables, 'files', RemovableFile>,
  ids: readonly FileId[],
): Promise<RemovableFile[]> {
  return files.where('id', 'in', ids).orderBy('id').modifyEnd(forUpdate(trx)).execute()
}

export interface ExpiredHolder extends FileHolder {
  readonly latest: number
}

/** Costs a few reads per account, for any number of files. */
export async function expiredHolders(db: Database): Promise<ExpiredHolder[]> {
  return (await expiredHoldersQuery().execute(db)).rows
}

export function expiredHoldersQuery() {
  const expired = sql`files.removal = 'expired' and files.removed_at is not null`
  return sql<ExpiredHolder>`
    with recursive holders (id) as (
      select min(files.account_id) from files where ${expired}
      union all
      select (select min(files.account_id) from files where ${expired} and files.account_id > holders.id)
      from holders where holders.id is not null
    )
    select holders.id as account_id, accounts.inactive_days as inactive_days,
      (select max(files.last_used_at) from files where ${expired} and files.account_id = holders.id) as latest
    from holders join accounts on accounts.id = holders.id`
}

/** The clock was wrong, the days were raised, or a use was recorded. Binned ones wait for their folder. */
export function wronglyExpired(
  trx: Trx,
  account: AccountId,
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  const wrong = trx
    .selectFrom('files')
    .select(columns)
    .where('account_id', '=', account)
    .where('removed_at', 'is not', null)
    .where('removal', '=', sql.lit('expired'))
    .where('last_used_at', '>=', cutoff)
    .where((file) =>
      file.not(
        file.exists(
          file
            .selectFrom('folders')
            .select('folders.id')
            .whereRef('folders.id', '=', 'files.folder_id')
            .where('folders.bin_id', 'is not', null),
        ),
      ),
    )
  return among === undefined ? wrong.limit(limit).execute() : lockedAmong(trx, wrong, among)
}

export interface ExpiredFile extends FileHolder {
  readonly id: FileId
  readonly last_used_at: number
}

/** Marked no later than `markedBefore`, longest unused first, after `after`. */
export function expiredFiles(
  db: Database,
  markedBefore: number,
  after: Pick<ExpiredFile, 'id' | 'last_used_at'> | null,
  limit: number,
): Promise<ExpiredFile[]> {
  const expired = db
    .selectFrom('files')
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select(['files.id', 'files.account_id', 'files.last_used_at', 'accounts.inactive_days'])
    .where('files.removed_at', '<=', markedBefore)
    .where('files.removal', '=', 'expired')
  const rest =
    after === null
      ? expired
      : expired.where((row) =>
          row(row.refTuple('files.last_used_at', 'files.id'), '>', row.tuple(after.last_used_at, after.id)),
        )
  return rest.orderBy('files.last_used_at').orderBy('files.id').limit(limit).execute()
}

export async function deletedFiles(db: Database, limit: number): Promise<FileId[]> {
  const rows = await db
    .selectFrom('files')
    .select('id')
    .where('removed_at', 'is not', null)
    .where('removal', '=', 'deleted')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Null when the file is gone or alive again. */
export async function dropFile(trx: Trx, id: FileId): Promise<BlobId | null> {
  const row = await trx
    .deleteFrom('files')
    .where('id', '=', id)
    .where('removed_at', 'is not', null)
    .returning('blob_id')
    .executeTakeFirst()
  return row?.blob_id ?? null
}

export async function countLiveFiles(db: Database): Promise<number> {
  const row = await db
    .selectFrom('accounts')
    .select(wholeSum(db, 'files_count').as('files'))
    .executeTakeFirstOrThrow()
  return row.files
}

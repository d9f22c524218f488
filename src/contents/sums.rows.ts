import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { wholeSum } from '../database/differences.ts'
import type { AccountId, BinEntryId, FolderId, FolderIdentifier } from '../domain/ids.ts'

export interface FolderSums {
  readonly id: FolderId
  readonly account_id: AccountId
  readonly username: string
  readonly identifier: FolderIdentifier
  readonly parent_id: FolderId | null
  readonly file_count: number
  readonly tree_files: number
  readonly tree_bytes: number
  readonly tree_folders: number
  readonly tree_height: number
  readonly files: number
  readonly bytes: number
  /** Counts of its direct subfolders, plus the subfolders themselves. */
  readonly below_files: number
  readonly below_bytes: number
  readonly below_folders: number
  readonly below_height: number
}

/** In the order of ids, after `id`. Counts and rows are one snapshot. */
export function folderSumsAfter(db: Queryable, id: FolderId | null, limit: number): Promise<FolderSums[]> {
  return sumsOfFolders(db, id === null ? sql<SqlBool>`1 = 1` : sql<SqlBool>`folders.id > ${id}`, limit)
}

export async function findFolderSums(db: Queryable, id: FolderId): Promise<FolderSums | undefined> {
  const [sums] = await sumsOfFolders(db, sql<SqlBool>`folders.id = ${id}`, 1)
  return sums
}

/** Accounts in which a folder is being deleted or restored: their rows follow in steps. */
export const accountsInMotion = sql<AccountId>`
  select account_id from folders where deleted_at is not null and cleared_at is null
  union all select account_id from bin where restoring = 1`

/** By the counts of direct subfolders: if each folder is right by that, all are. Leaves out accounts in motion. */
async function sumsOfFolders(
  db: Queryable,
  isWanted: RawBuilder<SqlBool>,
  limit: number,
): Promise<FolderSums[]> {
  const { rows } = await sql<FolderSums>`
    with chosen as (
      select folders.* from folders
      where ${isWanted} and (folders.deleted_at is null or folders.bin_id is not null)
        and folders.account_id not in (${accountsInMotion})
      order by folders.id limit ${limit}
    ), own as (
      select chosen.id, count(*) as files, sum(files.size) as bytes
      from chosen join files on files.folder_id = chosen.id
      where case when chosen.deleted_at is null then files.removed_at is null else files.removal = 'folder binned' end
      group by chosen.id
    ), below as (
      select chosen.id, sum(child.tree_files) as files, sum(child.tree_bytes) as bytes,
        sum(child.tree_folders + 1) as folders, max(child.tree_height + 1) as height
      from chosen join folders as child on child.parent_id = chosen.id
      where case when chosen.deleted_at is null then child.deleted_at is null else child.bin_id = chosen.bin_id end
      group by chosen.id
    )
    select chosen.id, chosen.account_id, accounts.username, chosen.identifier, chosen.parent_id,
      chosen.file_count, chosen.tree_files, chosen.tree_bytes, chosen.tree_folders, chosen.tree_height,
      cast(coalesce(own.files, 0) as bigint) as files,
      cast(coalesce(own.bytes, 0) as bigint) as bytes,
      cast(coalesce(below.files, 0) as bigint) as below_files,
      cast(coalesce(below.bytes, 0) as bigint) as below_bytes,
      cast(coalesce(below.folders, 0) as bigint) as below_folders,
      cast(coalesce(below.height, 0) as bigint) as below_height
    from chosen join accounts on accounts.id = chosen.account_id
      left join own on own.id = chosen.id left join below on below.id = chosen.id
    order by chosen.id`.execute(db)
  return rows
}

/** The height may stay larger. The caller holds the account's lock. */
export async function setFolderSums(trx: Trx, sums: FolderSums): Promise<void> {
  await trx
    .updateTable('folders')
    .set({
      file_count: sums.files,
      tree_files: sums.files + sums.below_files,
      tree_bytes: sums.bytes + sums.below_bytes,
      tree_folders: sums.below_folders,
      tree_height: Math.max(sums.tree_height, sums.below_height),
    })
    .where('id', '=', sums.id)
    .execute()
}

export interface EntrySums {
  readonly id: BinEntryId
  readonly account_id: AccountId
  readonly username: string
  readonly files: number
  readonly bytes: number
  readonly held_files: number
  readonly held_bytes: number
}

export function wrongEntriesAfter(db: Queryable, id: BinEntryId | null, limit: number): Promise<EntrySums[]> {
  return wrongEntries(db, id === null ? sql<SqlBool>`1 = 1` : sql<SqlBool>`bin.id > ${id}`, limit)
}

export async function findWrongEntry(db: Queryable, id: BinEntryId): Promise<EntrySums | undefined> {
  const [entry] = await wrongEntries(db, sql<SqlBool>`bin.id = ${id}`, 1)
  return entry
}

/** Leaves out accounts in motion: their rows follow in steps. */
async function wrongEntries(
  db: Queryable,
  isWanted: RawBuilder<SqlBool>,
  limit: number,
): Promise<EntrySums[]> {
  const { rows } = await sql<EntrySums>`
    select bin.id, bin.account_id, accounts.username, bin.files, bin.bytes,
      coalesce(folders.tree_files, 1) as held_files, coalesce(folders.tree_bytes, files.size) as held_bytes
    from bin join accounts on accounts.id = bin.account_id
      left join folders on folders.id = bin.folder_id
      left join files on files.id = bin.file_id
    where ${isWanted}
      and (
        bin.files <> coalesce(folders.tree_files, 1)
        or bin.bytes <> coalesce(folders.tree_bytes, files.size)
      )
      and bin.account_id not in (${accountsInMotion})
    order by bin.id limit ${limit}`.execute(db)
  return rows
}

/** The caller holds the account's lock. */
export async function setEntrySums(trx: Trx, { id, held_files, held_bytes }: EntrySums): Promise<void> {
  await trx.updateTable('bin').set({ files: held_files, bytes: held_bytes }).where('id', '=', id).execute()
}

export interface AccountSums {
  readonly id: AccountId
  readonly username: string
  readonly storage_used: number
  readonly files_count: number
  readonly folders_count: number
  readonly bin_bytes: number
  readonly bin_entries: number
  /** Sums over the rows of its files, without the bin. */
  readonly bytes: number
  readonly files: number
  readonly folders: number
  /** Sums over its bin, without entries deleted for good. */
  readonly binned_bytes: number
  readonly binned_entries: number
  readonly restoring: number
  /** Deleted folders still being cleared: no longer counted, but their rows exist. */
  readonly clearing: number
}

/** In the order of ids, after `id`. Sums and rows are one snapshot. */
export function accountSumsAfter(db: Database, id: AccountId | null, limit: number): Promise<AccountSums[]> {
  const accounts = sumsOfAccounts(db).orderBy('accounts.id').limit(limit)
  return (id === null ? accounts : accounts.where('accounts.id', '>', id)).execute()
}

export function findAccountSums(db: Queryable, id: AccountId): Promise<AccountSums | undefined> {
  return sumsOfAccounts(db).where('accounts.id', '=', id).executeTakeFirst()
}

const IS_KEPT = sql<SqlBool>`bin.account_id = accounts.id
  and (accounts.bin_emptied is null or bin.id > accounts.bin_emptied)`

function sumsOfAccounts(db: Queryable) {
  return db
    .selectFrom('accounts')
    .select(['accounts.id', 'accounts.username', 'accounts.storage_used', 'accounts.files_count'])
    .select(['accounts.folders_count', 'accounts.bin_bytes', 'accounts.bin_entries'])
    .select((row) => [
      row
        .selectFrom('files')
        .select(wholeSum(db, 'size').as('bytes'))
        .whereRef('files.account_id', '=', 'accounts.id')
        .where('removed_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('bytes'),
      row
        .selectFrom('files')
        .select((files) => files.fn.countAll<number>().as('files'))
        .whereRef('files.account_id', '=', 'accounts.id')
        .where('removed_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('files'),
      row
        .selectFrom('folders')
        .select((folders) => folders.fn.countAll<number>().as('folders'))
        .whereRef('folders.account_id', '=', 'accounts.id')
        .where('deleted_at', 'is', null)
        .where('parent_id', 'is not', null)
        .$asScalar()
        .$notNull()
        .as('folders'),
      row
        .selectFrom('bin')
        .select(wholeSum(db, 'bytes').as('bytes'))
        .where(IS_KEPT)
        .$asScalar()
        .$notNull()
        .as('binned_bytes'),
      row
        .selectFrom('bin')
        .select((entries) => entries.fn.countAll<number>().as('entries'))
        .where(IS_KEPT)
        .$asScalar()
        .$notNull()
        .as('binned_entries'),
      row
        .selectFrom('bin')
        .select((entries) => entries.fn.countAll<number>().as('restoring'))
        .whereRef('bin.account_id', '=', 'accounts.id')
        .where('restoring', '=', 1)
        .$asScalar()
        .$notNull()
        .as('restoring'),
      row
        .selectFrom('folders')
        .select((folders) => folders.fn.countAll<number>().as('clearing'))
        .whereRef('folders.account_id', '=', 'accounts.id')
        .where('deleted_at', 'is not', null)
        .where('cleared_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('clearing'),
    ])
}

export async function orphanFolders(db: Database): Promise<number> {
  const { rows } = await sql<{ loose: number }>`
    with recursive reached (id) as (
      select id from folders where parent_id is null
      union
      select folders.id from folders inner join reached on folders.parent_id = reached.id
    )
    select count(*) as loose from folders where id not in (select id from reached)`.execute(db)
  return Number(rows[0]?.loose ?? 0)
}

/** The caller holds the account's lock. */
export async function setAccountSums(trx: Trx, sums: AccountSums): Promise<void> {
  await trx
    .updateTable('accounts')
    .set({
      storage_used: sums.bytes + sums.binned_bytes,
      files_count: sums.files,
      folders_count: sums.folders,
      bin_bytes: sums.binned_bytes,
      bin_entries: sums.binned_entries,
    })
    .where('id', '=', sums.id)
    .execute()
}

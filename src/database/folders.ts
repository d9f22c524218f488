import { sql } from 'kysely'
import type { AccountId, FolderId, FolderIdentifier } from '../domain/ids.ts'
import type { Db } from './schema.ts'

export interface FolderRow {
  readonly id: FolderId
  readonly identifier: FolderIdentifier
  readonly account_id: AccountId
  readonly parent_id: FolderId | null
  readonly name: string
  readonly is_public: 0 | 1
  readonly password_hash: string | null
  readonly file_count: number
  readonly created_at: number
}

/** A folder with its parent's identifier, which is null at top level. */
export interface FolderListRow extends FolderRow {
  readonly parent_identifier: FolderIdentifier | null
}

const columns = [
  'folders.id',
  'folders.identifier',
  'folders.account_id',
  'folders.parent_id',
  'folders.name',
  'folders.is_public',
  'folders.password_hash',
  'folders.file_count',
  'folders.created_at',
] as const

function liveFolders(db: Db) {
  // A top level has no parent and no identifier that anybody knows: it is never found by one.
  return db
    .selectFrom('folders')
    .innerJoin('folders as parents', 'parents.id', 'folders.parent_id')
    .select(columns)
    .select((row) =>
      row
        .case()
        .when('parents.parent_id', 'is', null)
        .then(null)
        .else(row.ref('parents.identifier'))
        .end()
        .as('parent_identifier'),
    )
    .where('folders.deleted_at', 'is', null)
}

/** The live folder of that identifier, whoever owns it. */
export function findFolder(db: Db, identifier: FolderIdentifier): Promise<FolderListRow | undefined> {
  return liveFolders(db).where('folders.identifier', '=', identifier).executeTakeFirst()
}

/** All live folders of the account, or those directly in `parent`, oldest first. */
export function listFolders(db: Db, account: AccountId, parent: FolderId | null): Promise<FolderListRow[]> {
  const all = liveFolders(db).where('folders.account_id', '=', account)
  const some = parent === null ? all : all.where('folders.parent_id', '=', parent)
  return some.orderBy('folders.id').execute()
}

export function insertFolder(
  trx: Db,
  folder: {
    identifier: FolderIdentifier
    account_id: AccountId
    parent_id: FolderId
    name: string
    is_public: 0 | 1
    password_hash: string | null
    created_at: number
  },
): Promise<{ id: FolderId }> {
  return trx.insertInto('folders').values(folder).returning('id').executeTakeFirstOrThrow()
}

export async function updateFolder(
  trx: Db,
  id: FolderId,
  change: { name?: string; is_public?: 0 | 1; password_hash?: string | null; parent_id?: FolderId },
): Promise<void> {
  if (Object.keys(change).length > 0) {
    await trx.updateTable('folders').set(change).where('id', '=', id).execute()
  }
}

export interface ChainRow {
  readonly id: FolderId
  readonly identifier: FolderIdentifier
  readonly name: string
  readonly is_public: 0 | 1
  readonly password_hash: string | null
  readonly deleted_at: number | null
}

/** The folder and all above it, the outermost first, without the account's top level. */
export async function folderChain(db: Db, id: FolderId): Promise<ChainRow[]> {
  const { rows } = await sql<ChainRow>`
    with recursive chain as (
      select id, parent_id, 0 as height from folders where id = ${id}
      union all
      select folders.id, folders.parent_id, chain.height + 1
      from folders join chain on folders.id = chain.parent_id
    )
    select folders.id, identifier, name, is_public, password_hash, deleted_at
    from chain join folders on folders.id = chain.id
    where folders.parent_id is not null
    order by chain.height desc`.execute(db)
  return rows
}

export interface TreeRow {
  readonly id: FolderId
  /** 1 for the folder itself. */
  readonly level: number
}

/** The folder and every live folder below it. */
export async function folderTree(db: Db, id: FolderId): Promise<TreeRow[]> {
  const { rows } = await sql<TreeRow>`
    with recursive tree as (
      select id, 1 as level from folders where id = ${id}
      union all
      select folders.id, tree.level + 1
      from folders join tree on folders.parent_id = tree.id
      where folders.deleted_at is null
    )
    select id, level from tree`.execute(db)
  return rows
}

export async function markFoldersDeleted(trx: Db, ids: readonly FolderId[], at: number): Promise<void> {
  await trx
    .updateTable('folders')
    .set({ deleted_at: at, file_count: 0 })
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
}

export async function changeFileCount(trx: Db, id: FolderId, by: number): Promise<void> {
  await trx
    .updateTable('folders')
    .set((row) => ({ file_count: row('file_count', '+', by) }))
    .where('id', '=', id)
    .execute()
}

/**
 * Removes the rows of deleted folders that nothing points to any more, at most `limit`; returns how many.
 * Leaves of a deleted tree go first, so it takes as many calls as the tree has levels.
 */
export async function dropDeletedFolders(trx: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from folders where id in (
      select id from folders as gone
      where gone.deleted_at is not null
        and not exists (select 1 from folders as child where child.parent_id = gone.id)
        and not exists (select 1 from files where files.folder_id = gone.id)
      limit ${limit}
    )`.execute(trx)
  return Number(numAffectedRows ?? 0n)
}

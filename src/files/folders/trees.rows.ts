import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import type { FolderId } from '../../domain/ids.ts'
import { type FolderListRow, liveFolders } from './folders.rows.ts'

/** Includes the folder; live ones only. Ids in parentheses. */
export function treeOf(folder: FolderId): RawBuilder<FolderId> {
  return sql<FolderId>`(
    with recursive tree (id) as (
      select id from folders where id = ${folder}
      union all
      select folders.id from folders join tree on folders.parent_id = tree.id where folders.deleted_at is null
    )
    select id from tree
  )`
}

/** Includes the folder; deleted or not. Ids in parentheses. */
export function wholeTreeOf(folder: FolderId): RawBuilder<FolderId> {
  return sql<FolderId>`(
    with recursive tree (id) as (
      select id from folders where id = ${folder}
      union all
      select folders.id from folders join tree on folders.parent_id = tree.id
    )
    select id from tree
  )`
}

/** Oldest first. */
export function listTree(db: Database, folder: FolderId): Promise<FolderListRow[]> {
  return db.readPool.rows(liveFolders(db).where('folders.id', 'in', treeOf(folder)).orderBy('folders.id'))
}

/** Includes the folder itself; stops at `most`. */
export async function countTree(trx: Trx, folder: FolderId, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select 1 from ${treeOf(folder)} as tree limit ${most}) as counted
  `.execute(trx)
  return Number(rows[0]?.count ?? 0)
}

/** For few rows. For many, `goingFolders` reads the deleted trees once. */
export function isBelowDeleted(column: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    with recursive chain (id, parent_id, deleted_at) as (
      select id, parent_id, deleted_at from folders where id = ${sql.ref(column)}
      union all
      select folders.id, folders.parent_id, folders.deleted_at
      from folders join chain on folders.id = chain.parent_id
      where chain.deleted_at is null
    )
    select 1 from chain where deleted_at is not null
  )`
}

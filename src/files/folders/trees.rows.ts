/** All that is in a folder, however deep. */

import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { FolderId } from '../../domain/ids.ts'
import { type FolderListRow, liveFolders } from './folders.rows.ts'

/** The live folder and every live one below it: ids in parentheses. */
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

/** The folder and every one below it, deleted or not: ids in parentheses. */
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

/** The live ones of them, oldest first. */
export function listTree(db: Database, folder: FolderId): Promise<FolderListRow[]> {
  return db.readPool.rows(liveFolders(db).where('folders.id', 'in', treeOf(folder)).orderBy('folders.id'))
}

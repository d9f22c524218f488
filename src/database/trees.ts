/** All that is in a folder, however deep. */

import { type RawBuilder, sql } from 'kysely'
import type { FolderId } from '../domain/ids.ts'
import { besideRequests } from './beside.ts'
import { type FolderListRow, liveFolders } from './folders.ts'
import type { Db } from './schema.ts'

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
export function listTree(db: Db, folder: FolderId): Promise<FolderListRow[]> {
  return besideRequests(db, liveFolders(db).where('folders.id', 'in', treeOf(folder)).orderBy('folders.id'))
}

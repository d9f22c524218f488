/** What is below a folder, as its page shows it. */

import { sql } from 'kysely'
import type { AccountId, FolderId } from '../domain/ids.ts'
import { besideRequests, FAR } from './beside.ts'
import { type FolderListRow, liveFolders } from './folders.ts'
import type { Db } from './schema.ts'

export interface SubfolderOrder {
  /** By name: without regard to the case of A to Z. */
  readonly sort: 'created_at' | 'name'
  readonly order: 'asc' | 'desc'
}

/** The live folders directly in a live one that a viewer may see, a page of them. */
export function subfolderPage(
  db: Db,
  query: SubfolderOrder & {
    readonly parent: FolderId
    readonly publicOnly: boolean
    readonly offset: number
    readonly limit: number
  },
): Promise<FolderListRow[]> {
  const { order } = query
  const column = query.sort === 'name' ? sql`lower(folders.name)` : sql.ref('folders.id')
  const page = shown(db, query.parent, query.publicOnly)
    .select('folders.id')
    .orderBy(column, order)
    .orderBy('folders.id', order)
    .limit(query.limit)
    .offset(query.offset)
  const folders = liveFolders(db)
    .where('folders.id', 'in', page)
    .orderBy(column, order)
    .orderBy('folders.id', order)
  return query.offset > FAR ? besideRequests(db, folders) : folders.execute()
}

/** How many there are. `atMost`: no fewer than that, known beforehand. */
export async function countSubfolders(
  db: Db,
  query: { readonly parent: FolderId; readonly publicOnly: boolean; readonly atMost: number },
): Promise<number> {
  if (query.atMost === 0) return 0
  const folders = shown(db, query.parent, query.publicOnly).select((row) =>
    row.fn.countAll<number>().as('folders'),
  )
  const [row] = await (query.atMost > FAR ? besideRequests(db, folders) : folders.execute())
  return row?.folders ?? 0
}

function shown(db: Db, parent: FolderId, publicOnly: boolean) {
  const live = db
    .selectFrom('folders')
    .where('folders.parent_id', '=', parent)
    .where('folders.deleted_at', 'is', null)
  return publicOnly ? live.where('folders.is_public', '=', 1) : live
}

export interface FolderBelow {
  readonly id: FolderId
  readonly account_id: AccountId
  readonly is_public: 0 | 1
  readonly password_hash: string | null
  readonly tree_files: number
  readonly tree_bytes: number
}

/**
 * The live folders below live ones, at most `limit` of them. What is below one that is private or has a password is
 * not among them.
 */
export async function foldersBelow(
  db: Db,
  parents: readonly FolderId[],
  limit: number,
): Promise<FolderBelow[]> {
  const columns = sql.raw(
    'folders.id, folders.account_id, folders.is_public, folders.password_hash, folders.tree_files, folders.tree_bytes',
  )
  const { rows } = await sql<FolderBelow>`
    with recursive below (id, account_id, is_public, password_hash, tree_files, tree_bytes) as (
      select ${columns} from folders where parent_id in (${sql.join(parents)}) and deleted_at is null
      union all
      select ${columns} from folders join below on folders.parent_id = below.id
      where folders.deleted_at is null and below.is_public = 1 and below.password_hash is null
    )
    select * from below limit ${limit}`.execute(db)
  return rows
}

import { sql } from 'kysely'
import { type Database, MOST_SKIPPED } from '../../database/database.ts'
import { hiddenFromSqlite, wholeSum } from '../../database/differences.ts'
import { prepared } from '../../database/prepared.ts'
import type { AccountId, FolderId } from '../../domain/ids.ts'
import { type FolderListRow, goingFolders, isClearing, liveFolders } from './folders.rows.ts'

/** Oldest first, of the account or of `parent`. */
export async function listFolders(
  db: Database,
  account: AccountId,
  parent: FolderId | null,
): Promise<FolderListRow[]> {
  if (parent !== null) return foldersIn(db, account, parent)
  if (!(await isClearing(db, account))) return foldersOf(db, account)
  const folders = liveFolders(db).where('folders.account_id', '=', account).orderBy('folders.id')
  return db.readPool.rows(folders.where('folders.id', 'not in', goingFolders(account)))
}

const foldersOf = prepared((db, account: AccountId) =>
  liveFolders(db).where('folders.account_id', '=', hiddenFromSqlite(db, account)).orderBy('folders.id'),
)

const foldersIn = prepared((db, account: AccountId, parent: FolderId) =>
  liveFolders(db)
    .where('folders.account_id', '=', hiddenFromSqlite(db, account))
    .where('folders.parent_id', '=', hiddenFromSqlite(db, parent))
    .orderBy('folders.id'),
)

export interface SubfolderOrder {
  /** Natural order: see `sortKey`. */
  readonly sort: 'created_at' | 'name'
  readonly order: 'asc' | 'desc'
}

export function subfolderPage(
  db: Database,
  query: SubfolderOrder & {
    readonly parent: FolderId
    readonly publicOnly: boolean
    readonly offset: number
    readonly limit: number
  },
): Promise<FolderListRow[]> {
  const columns = query.sort === 'name' ? ['name_sort', 'name', 'id'] : ['id']
  const direction = sql.raw(query.order)
  const order = sql.join(columns.map((column) => sql`${sql.ref(`folders.${column}`)} ${direction}`))
  const page = shown(db, [query.parent], query.publicOnly)
    .select('folders.id')
    .orderBy(order)
    .limit(query.limit)
    .offset(query.offset)
  const folders = liveFolders(db).where('folders.id', 'in', page).orderBy(order)
  return query.offset > MOST_SKIPPED ? db.readPool.rows(folders) : folders.execute()
}

/** `atMost`: a known upper bound. */
export async function countSubfolders(
  db: Database,
  query: { readonly parent: FolderId; readonly publicOnly: boolean; readonly atMost: number },
): Promise<number> {
  if (query.atMost === 0) return 0
  const folders = shown(db, [query.parent], query.publicOnly).select((row) =>
    row.fn.countAll<number>().as('folders'),
  )
  const [row] = await (query.atMost > MOST_SKIPPED ? db.readPool.rows(folders) : folders.execute())
  return row?.folders ?? 0
}

export interface PublicSubfolder extends TreeTotals {
  readonly id: FolderId
  readonly account_id: AccountId
  readonly is_public: 0 | 1
  readonly password_hash: string | null
  readonly closing: number
  readonly tree_folders: number
}

export interface TreeTotals {
  readonly tree_files: number
  readonly tree_bytes: number
}

/** `atMost`: a known upper bound of the folders in their trees. */
export interface Parents {
  readonly ids: readonly FolderId[]
  readonly atMost: number
}

/** These sums read rows, not only an index. */
const MANY_ROWS = 10_000

/** At most `limit`. */
export function publicSubfolders(db: Database, parents: Parents, limit: number): Promise<PublicSubfolder[]> {
  const folders = shown(db, parents.ids, true)
    .select(['id', 'account_id', 'is_public', 'password_hash', 'closing'])
    .select(['tree_files', 'tree_bytes', 'tree_folders'])
    .limit(limit)
  return parents.atMost > MANY_ROWS ? db.readPool.rows(folders) : folders.execute()
}

/** Covers all, or private ones. */
export async function subfolderTotals(
  db: Database,
  parents: Parents,
  which: 'all' | 'private',
): Promise<TreeTotals> {
  if (parents.atMost === 0) return { tree_files: 0, tree_bytes: 0 }
  const folders = shown(db, parents.ids, false)
  const sums = (which === 'all' ? folders : folders.where('folders.is_public', '=', 0)).select([
    wholeSum(db, 'folders.tree_files').as('tree_files'),
    wholeSum(db, 'folders.tree_bytes').as('tree_bytes'),
  ])
  const [row] = await (parents.atMost > MANY_ROWS ? db.readPool.rows(sums) : sums.execute())
  return row ?? { tree_files: 0, tree_bytes: 0 }
}

function shown(db: Database, parents: readonly FolderId[], publicOnly: boolean) {
  const live = db.selectFrom('folders').where('folders.deleted_at', 'is', null)
  const [parent, another] = parents
  // With a list of one the database would sort anew; the index has the order already.
  const placed =
    parent !== undefined && another === undefined
      ? live.where('folders.parent_id', '=', parent)
      : live.where('folders.parent_id', 'in', parents)
  return publicOnly ? placed.where('folders.is_public', '=', 1) : placed
}

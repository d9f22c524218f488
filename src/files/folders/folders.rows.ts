import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Database, MOST_SKIPPED, type Queryable, type Trx } from '../../database/database.ts'
import { hiddenFromSqlite, wholeSum } from '../../database/differences.ts'
import { lookup, prepared, preparedChange } from '../../database/prepared.ts'
import type { Row } from '../../database/schema.ts'
import { numberedFolderName } from '../../domain/folder-name.ts'
import type { AccountId, BinEntryId, FolderId, FolderIdentifier } from '../../domain/ids.ts'

export type FolderRow = Omit<
  Row<'folders'>,
  'name_sort' | 'deleted_at' | 'cleared_at' | 'bin_id' | 'unique_name'
>

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
  'folders.closing',
  'folders.file_count',
  'folders.tree_files',
  'folders.tree_bytes',
  'folders.tree_folders',
  'folders.tree_height',
  'folders.cover',
  'folders.created_at',
  'folders.is_transfer',
] as const

/** An ancestor may be deleted. */
export function liveFolders(db: Queryable) {
  // Excludes top levels, which have no parent and no known identifier.
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

/** Finds a folder of any owner. */
export async function findFolder(
  db: Queryable,
  name: FolderIdentifier | FolderId,
): Promise<FolderListRow | undefined> {
  const row = await folderOrBelowDeleted(db, name)
  return row === undefined || (await isGone(db, row.id)) ? undefined : row
}

/** For callers that read the ancestors anyway. */
export async function folderOrBelowDeleted(
  db: Queryable,
  name: FolderIdentifier | FolderId,
): Promise<FolderListRow | undefined> {
  const [row] = typeof name === 'number' ? await folderNumbered(db, name) : await folderCalled(db, name)
  return row
}

const folderNumbered = prepared((db, id: FolderId) =>
  liveFolders(db).where('folders.id', '=', hiddenFromSqlite(db, id)),
)

const folderCalled = prepared((db, identifier: FolderIdentifier) =>
  liveFolders(db).where('folders.identifier', '=', hiddenFromSqlite(db, identifier)),
)

/** Finds deleted folders too. */
export function folderById(db: Queryable, id: FolderId): Promise<FolderRow> {
  return db.selectFrom('folders').select(columns).where('id', '=', id).executeTakeFirstOrThrow()
}

/** Finds deleted folders too. */
export async function folderIdOf(db: Database, identifier: FolderIdentifier): Promise<FolderId | undefined> {
  const folders = db.selectFrom('folders').select('id').where('identifier', '=', identifier)
  return (await folders.executeTakeFirst())?.id
}

export async function childNamed(trx: Trx, parent: FolderId, name: string): Promise<FolderId | undefined> {
  const row = await trx
    .selectFrom('folders')
    .select('id')
    .where('parent_id', '=', parent)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row?.id
}

/** The name, or the name with a number that is not taken. Call under the account's lock. */
export async function freeName(trx: Trx, parent: FolderId, name: string): Promise<string> {
  const numbered = (number: number) => (number === 1 ? name : numberedFolderName(name, number))
  const isTaken = async (number: number) => (await childNamed(trx, parent, numbered(number))) !== undefined
  if (!(await isTaken(1))) return name
  // A few look-ups, however many there are.
  let taken = 1
  let free = 2
  for (; await isTaken(free); free *= 2) taken = free
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2)
    if (await isTaken(middle)) taken = middle
    else free = middle
  }
  return numbered(free)
}

export interface ChainRow {
  readonly id: FolderId
  readonly identifier: FolderIdentifier
  readonly name: string
  readonly is_public: 0 | 1
  readonly password_hash: string | null
  readonly closing: number
  readonly deleted_at: number | null
  /** Set where it may be restored. */
  readonly bin_id: BinEntryId | null
  readonly is_transfer: 0 | 1
}

/** Outermost first. Includes the top level only when the whole account is deleted. */
export const folderChain: (db: Queryable, id: FolderId) => Promise<ChainRow[]> = prepared(
  (db, id: FolderId) => ({
    compile: () =>
      sql<ChainRow>`
      ${chainFrom(sql`${id}`)}
      select ${sql.join(CHAIN_COLUMNS.map((column) => sql.ref(`folders.${column}`)))}
      ${STEPS}
      order by chain.height desc`.compile(db),
  }),
)

/** PostgreSQL only. */
export function chainOfFile(): RawBuilder<readonly ChainRow[] | null> {
  const fields = CHAIN_COLUMNS.flatMap((column) => [sql.lit(column), sql.ref(`folders.${column}`)])
  return sql`(
    ${chainFrom(sql.ref('files.folder_id'))}
    select json_agg(json_build_object(${sql.join(fields)}) order by chain.height desc)
    ${STEPS}
  )`
}

const CHAIN_COLUMNS = [
  'id',
  'identifier',
  'name',
  'is_public',
  'password_hash',
  'closing',
  'deleted_at',
  'bin_id',
  'is_transfer',
] as const satisfies readonly (keyof ChainRow)[]

function chainFrom(folder: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`with recursive chain as (
    select id, parent_id, 0 as height from folders where id = ${folder}
    union all
    select folders.id, folders.parent_id, chain.height + 1
    from folders join chain on folders.id = chain.parent_id
  )`
}

const STEPS = sql`from chain join folders on folders.id = chain.id
  where folders.parent_id is not null or folders.deleted_at is not null`

/** True also for a deleted ancestor. */
export async function isGone(db: Queryable, id: FolderId): Promise<boolean> {
  return (await folderChain(db, id)).some((step) => step.deleted_at !== null)
}

export async function isClearing(db: Database, account: AccountId): Promise<boolean> {
  return (await countedFiles(db, account)).isClearing
}

export async function countedFiles(
  db: Database,
  account: AccountId,
): Promise<{ readonly total: number; readonly isClearing: boolean }> {
  const row = await listedAccount(db, account)
  return { total: row?.files_count ?? 0, isClearing: (row?.clearing ?? null) !== null }
}

const listedAccount = lookup({
  column: 'accounts.id',
  build: (db, isWanted) =>
    db
      .selectFrom('accounts')
      .where(isWanted)
      .select(['accounts.id', 'accounts.files_count'])
      .select((account) =>
        account
          .selectFrom('folders')
          .whereRef('folders.account_id', '=', 'accounts.id')
          .where('folders.deleted_at', 'is not', null)
          .where('folders.cleared_at', 'is', null)
          .select('folders.id')
          .limit(sql.lit(1))
          .as('clearing'),
      ),
  valueIn: ({ id }) => id,
})

/** Ids in parentheses; excludes cleared ones. */
export function goingFolders(account: AccountId): RawBuilder<FolderId> {
  return sql<FolderId>`(
    with recursive going (id) as (
      select id from folders where account_id = ${account} and deleted_at is not null and cleared_at is null
      union
      select folders.id from folders join going on folders.parent_id = going.id
    )
    select id from going
  )`
}

/**
 * The folder is level 1. With its bin entry, counts the tree in the bin. Level by level: a tree may be too large for
 * one statement.
 */
export async function isDeeperThan(
  trx: Trx,
  id: FolderId,
  levels: number,
  entry: BinEntryId | null = null,
): Promise<boolean> {
  let present: FolderId[] = [id]
  for (let level = 1; present.length > 0; level++) {
    if (level > levels) return true
    const below: FolderId[] = []
    for (let at = 0; at < present.length; at += WALK_STEP) {
      const rows = await trx
        .selectFrom('folders')
        .select('id')
        .where('parent_id', 'in', present.slice(at, at + WALK_STEP))
        .where((folder) =>
          folder.or([
            folder('deleted_at', 'is', null),
            ...(entry === null ? [] : [folder('bin_id', '=', entry)]),
          ]),
        )
        .execute()
      for (const row of rows) below.push(row.id)
    }
    present = below
  }
  return false
}

const WALK_STEP = 500

/** Negative numbers subtract. */
export interface TreeChange {
  readonly files?: number
  readonly bytes?: number
  readonly folders?: number
  /** Counts the highest level too. */
  readonly height?: number
}

/** Leaves the height, which another folder may share. */
export function takenAway({ files = 0, bytes = 0, folders = 0 }: TreeChange): TreeChange {
  return { files: -files, bytes: -bytes, folders: -folders }
}

export async function changeTree(trx: Trx, id: FolderId, change: TreeChange): Promise<void> {
  const { files = 0, bytes = 0, folders = 0, height = null } = change
  await addToTrees(trx, height, id, id, 0, files, bytes, folders)
  if (files < 0) await lookForEmptyTransfers(trx, id)
}

/** A job looks soon whether the transfers around a folder are empty. */
const lookForEmptyTransfers = preparedChange((db, id: FolderId) => ({
  compile: () =>
    sql`
      ${chainFrom(sql`${id}`)}
      update transfers set look_at = 0 where folder_id in (select id from chain)`.compile(db),
}))

const addToTrees = preparedChange(
  (
    db,
    height: number | null,
    id: FolderId,
    itself: FolderId,
    own: number,
    files: number,
    bytes: number,
    folders: number,
  ) => ({
    compile: () =>
      sql`
        with recursive chain (id, parent_id, height) as (
          select id, parent_id, cast(${height} as bigint) from folders where id = ${id}
          union all
          select folders.id, folders.parent_id, chain.height + 1
          from folders join chain on folders.id = chain.parent_id
        )
        update folders
        set
          file_count = file_count + case when folders.id = ${itself} then ${own} else 0 end,
          tree_files = tree_files + ${files},
          tree_bytes = tree_bytes + ${bytes},
          tree_folders = tree_folders + ${folders},
          tree_height = case when chain.height > tree_height then chain.height else tree_height end
        from chain where chain.id = folders.id`.compile(db),
  }),
)

export async function changeFiles(trx: Trx, id: FolderId, files: number, bytes: number): Promise<void> {
  await addToTrees(trx, null, id, id, files, files, bytes, 0)
  if (files < 0) await lookForEmptyTransfers(trx, id)
}

export async function fileCount(db: Database, id: FolderId): Promise<number> {
  return (await countIn(db, id))[0]?.file_count ?? 0
}

const countIn = prepared((db, id: FolderId) =>
  db.selectFrom('folders').select('file_count').where('id', '=', id),
)

export async function markFolderDeleted(
  trx: Trx,
  id: FolderId,
  at: number,
  entry: BinEntryId | null = null,
): Promise<void> {
  await trx.updateTable('folders').set({ deleted_at: at, bin_id: entry }).where('id', '=', id).execute()
}

/** Includes the folder; live ones only. Ids in parentheses. */
export function treeOf(...folders: readonly FolderId[]): RawBuilder<FolderId> {
  return sql<FolderId>`(
    with recursive tree (id) as (
      select id from folders where id in (${sql.join(folders)})
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

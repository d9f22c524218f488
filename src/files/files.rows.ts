import { type Insertable, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type Database, FAR, type Queryable, type Trx } from '../database/database.ts'
import { withoutIndex } from '../database/differences.ts'
import { lookup } from '../database/lookup.ts'
import { plannedEachTime, preparedInsert } from '../database/prepared.ts'
import type { Tables, ThumbnailState } from '../database/schema.ts'
import { foldName } from '../domain/folded-name.ts'
import {
  type AccountId,
  type BlobId,
  type BlobKey,
  type FileId,
  type FileIdentifier,
  type FolderId,
  type FolderIdentifier,
  isSlug,
  type Sha256,
  type Slug,
  type Uuid,
} from '../domain/ids.ts'
import { sortKeyOfFolded } from '../domain/sort-key.ts'
import { goingFolders, isClearing, isGone } from './folders/folders.rows.ts'
import { treeOf } from './folders/trees.rows.ts'

export interface FileRow {
  readonly id: FileId
  readonly uuid: Uuid
  readonly slug: Slug
  readonly account_id: AccountId
  readonly folder_id: FolderId
  readonly name: string
  readonly size: number
  readonly type: string
  readonly created_at: number
  readonly last_used_at: number
  readonly views: number
  readonly downloads: number
}

/** A file in a list, with its folder's identifier, which is null at top level. */
export interface FileListRow extends FileRow {
  readonly folder_identifier: FolderIdentifier | null
}

export interface FileDetailRow extends FileListRow {
  readonly blob_id: BlobId
  readonly blob_key: BlobKey
  readonly sha256: Sha256
  /** Null where nobody has looked yet whether the content can have one. */
  readonly thumbnail: ThumbnailState | null
  /** Not null while something below a deleted folder of the owner's is not marked as deleted yet. */
  readonly clearing: number | null
}

const columns = [
  'files.id',
  'files.uuid',
  'files.slug',
  'files.account_id',
  'files.folder_id',
  'files.name',
  'files.size',
  'files.type',
  'files.created_at',
  'files.last_used_at',
  'files.views',
  'files.downloads',
] as const

function liveFiles(db: Queryable) {
  // Looked up row by row and not joined: SQLite takes several times as long to set up a join of single rows.
  return db
    .selectFrom('files')
    .select(columns)
    .select((file) =>
      file
        .selectFrom('folders')
        .whereRef('folders.id', '=', 'files.folder_id')
        .select((folder) =>
          folder
            .case()
            .when('folders.parent_id', 'is', null)
            .then(null)
            .else(folder.ref('folders.identifier'))
            .end()
            .as('identifier'),
        )
        .as('folder_identifier'),
    )
    .where('files.removed_at', 'is', null)
}

function detailedFiles(db: Queryable) {
  return liveFiles(db).select((file) => [
    'files.blob_id',
    file
      .selectFrom('blobs')
      .whereRef('blobs.id', '=', 'files.blob_id')
      .select('blobs.key')
      .$asScalar()
      .$notNull()
      .as('blob_key'),
    file
      .selectFrom('blobs')
      .whereRef('blobs.id', '=', 'files.blob_id')
      .select('blobs.sha256')
      .$asScalar()
      .$notNull()
      .as('sha256'),
    file
      .selectFrom('thumbnails')
      .whereRef('thumbnails.blob_id', '=', 'files.blob_id')
      .select('thumbnails.state')
      .as('thumbnail'),
    file
      .selectFrom('folders as going')
      .whereRef('going.account_id', '=', 'files.account_id')
      .where('going.deleted_at', 'is not', null)
      .where('going.cleared_at', 'is', null)
      .select((row) => row.lit(1).as('going'))
      .limit(sql.lit(1))
      .as('clearing'),
  ])
}

function fileBy<Value extends string | number>(column: string, valueIn: (file: FileDetailRow) => Value) {
  return lookup({ column, build: (db, isWanted) => detailedFiles(db).where(isWanted), valueIn })
}

const fileById = fileBy('files.id', (file) => file.id)
const fileByUuid = fileBy('files.uuid', (file) => file.uuid)
const fileBySlug = fileBy('files.slug', (file) => file.slug)

/** The live file, whoever owns it. */
export async function findFile(db: Queryable, identifier: FileIdentifier) {
  const file = await fileCalled(db, identifier)
  if (file === undefined || file.clearing === null) return file
  return (await isGone(db, file.folder_id)) ? undefined : file
}

async function fileCalled(db: Queryable, identifier: FileIdentifier): Promise<FileDetailRow | undefined> {
  if (identifier.kind === 'id') return fileById(db, identifier.id)
  if (identifier.kind === 'uuid') return fileByUuid(db, identifier.uuid)
  return isSlug(identifier.slug) ? fileBySlug(db, identifier.slug) : undefined
}

export type FileSortField = 'created_at' | 'name' | 'size' | 'downloads'

export interface FileOrder {
  readonly sort: FileSortField
  readonly order: 'asc' | 'desc'
}

export interface FileQuery extends FileOrder {
  readonly account: AccountId
  /** A live folder, or null for every file of the account. */
  readonly folder: FolderId | null
  /**
   * Also what is in the folders below it. No index has the order of a tree: what is a `small` part of the account is
   * sorted, and for a `large` one the account is gone through in its order until the page is full.
   */
  readonly tree?: 'small' | 'large'
  readonly offset: number
  readonly limit: number
}

export async function listFiles(db: Database, query: FileQuery): Promise<FileListRow[]> {
  const skipsGoing = await hasFilesGoing(db, query)
  const isSlow = skipsGoing || query.tree !== undefined || query.offset > FAR
  if (isSlow) return db.readPool.rows(listedFiles(db, query, placedFiles(db, query, skipsGoing)))
  const { account, folder, sort, order, limit, offset } = query
  const { ofAccount, inFolder } = PAGES[sort][order]
  return folder === null ? ofAccount(db, account, limit, offset) : inFolder(db, folder, limit, offset)
}

/** The pages that clients ask for most, for each order. */
const PAGES = {
  created_at: bothWays('created_at'),
  name: bothWays('name'),
  size: bothWays('size'),
  downloads: bothWays('downloads'),
} satisfies Record<FileSortField, unknown>

function bothWays(sort: FileSortField) {
  return { asc: preparedPages({ sort, order: 'asc' }), desc: preparedPages({ sort, order: 'desc' }) }
}

function preparedPages(order: FileOrder) {
  const live = (db: Queryable) => db.selectFrom('files').where('files.removed_at', 'is', null)
  return {
    ofAccount: plannedEachTime((db, account: AccountId, limit: number, offset: number) =>
      listedFiles(db, { ...order, limit, offset }, live(db).where('files.account_id', '=', account)),
    ),
    inFolder: plannedEachTime((db, folder: FolderId, limit: number, offset: number) =>
      listedFiles(db, { ...order, limit, offset }, live(db).where('files.folder_id', '=', folder)),
    ),
  }
}

/** Whether the files in question may include some that went with a deleted folder and are not marked yet. */
export async function hasFilesGoing(
  db: Database,
  place: Pick<FileQuery, 'account' | 'folder'>,
): Promise<boolean> {
  return place.folder === null && (await isClearing(db, place.account))
}

/** The live files of an account or a folder; given `among`, those of them, which are few. */
export function placedFiles(
  db: Database,
  place: Pick<FileQuery, 'account' | 'folder' | 'tree'>,
  skipsGoing: boolean,
  among: RawBuilder<FileId> | null = null,
) {
  const live = db.selectFrom('files').where('files.removed_at', 'is', null)
  const files = among === null ? live : live.where('files.id', 'in', among)
  // SQLite would take any account for a small one, and walk its index before that of the ids.
  const column = <T>(name: string) => (among === null ? sql.ref<T>(name) : withoutIndex<T>(name))
  if (place.folder !== null && place.tree === 'small') {
    return files.where(column<FolderId>('files.folder_id'), 'in', treeOf(place.folder))
  }
  if (place.folder !== null && place.tree === 'large') {
    return files
      .where(column<AccountId>('files.account_id'), '=', place.account)
      .where(withoutIndex<FolderId>('files.folder_id'), 'in', treeOf(place.folder))
  }
  // A folder belongs to one account, so naming the account as well would only keep its index from being used.
  if (place.folder !== null) return files.where(column<FolderId>('files.folder_id'), '=', place.folder)
  const owned = files.where(column<AccountId>('files.account_id'), '=', place.account)
  return skipsGoing ? owned.where('files.folder_id', 'not in', goingFolders(place.account)) : owned
}

/** The columns that a list is sorted by. Names that differ in accents or leading zeros alone have one key. */
export function sortColumns({ sort }: FileOrder) {
  return sort === 'name' ? (['name_sort', 'name_folded', 'id'] as const) : ([sort, 'id'] as const)
}

/** What ends a query of `table`, which has these columns, for `order by`. */
export function orderOfFiles(order: FileOrder, table: string): RawBuilder<unknown> {
  const direction = sql.raw(order.order)
  return sql.join(sortColumns(order).map((column) => sql`${sql.ref(`${table}.${column}`)} ${direction}`))
}

/** The page of `some` that the query asks for. */
export function listedFiles(
  db: Queryable,
  query: FileOrder & Pick<FileQuery, 'offset' | 'limit'>,
  some: SelectQueryBuilder<Tables, 'files', unknown>,
) {
  const order = orderOfFiles(query, 'files')
  // The rows that a late page skips are passed over in the index alone, without looking at their folders.
  const page = some.select('files.id').orderBy(order).limit(query.limit).offset(query.offset)
  return liveFiles(db).where('files.id', 'in', page).orderBy(order)
}

/** The folder's files after `before`, newest first: for walking a folder of any size in steps. */
export function filesBefore(
  db: Database,
  folder: FolderId,
  before: { created_at: number; id: FileId } | null,
  limit: number,
): Promise<FileListRow[]> {
  const files = liveFiles(db).where('files.folder_id', '=', folder)
  const rest =
    before === null
      ? files
      : files.where((row) =>
          row(row.refTuple('files.created_at', 'files.id'), '<', row.tuple(before.created_at, before.id)),
        )
  return rest.orderBy('files.created_at', 'desc').orderBy('files.id', 'desc').limit(limit).execute()
}

/** The columns of a new file's row, but for the key of its name. */
export type NewFile = Readonly<
  Omit<Insertable<Tables['files']>, 'id' | 'name_sort' | 'views' | 'downloads' | 'removed_at' | 'removal'>
>

const addFile = preparedInsert((db, file: NewFile & { readonly name_sort: string }) =>
  db.insertInto('files').values(file).returning('id'),
)

/** Throws a unique violation when slug or UUID are taken. */
export async function insertFile(trx: Trx, file: NewFile): Promise<FileId> {
  const [added] = await addFile(trx, { ...file, name_sort: sortKeyOfFolded(file.name_folded) })
  if (added === undefined) throw new Error('a new file has an id')
  return added.id
}

export async function renameFile(trx: Trx, id: FileId, name: string): Promise<void> {
  const name_folded = foldName(name)
  const file = trx.updateTable('files').where('id', '=', id)
  await file.set({ name, name_folded }).execute()
  // By itself, because PostgreSQL takes the key away from whoever changes the name: see migration 021.
  await file.set({ name_sort: sortKeyOfFolded(name_folded) }).execute()
}

export async function placeFile(trx: Trx, id: FileId, folder: FolderId): Promise<void> {
  await trx.updateTable('files').set({ folder_id: folder }).where('id', '=', id).execute()
}

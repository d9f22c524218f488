import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
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
import { besideRequests, FAR } from './beside.ts'
import { withoutIndex } from './differences.ts'
import { goingFolders, isClearing, isGone } from './folders.ts'
import { prepared, preparedChange } from './prepared.ts'
import type { Db, Tables, ThumbnailState } from './schema.ts'
import { treeOf } from './trees.ts'

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

function liveFiles(db: Db) {
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

function detailedFiles(db: Db) {
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

const fileById = prepared((db, id: FileId) => detailedFiles(db).where('files.id', '=', id))
const fileByUuid = prepared((db, uuid: Uuid) => detailedFiles(db).where('files.uuid', '=', uuid))
const fileBySlug = prepared((db, slug: Slug) => detailedFiles(db).where('files.slug', '=', slug))

/** The live file, whoever owns it. */
export async function findFile(db: Db, identifier: FileIdentifier): Promise<FileDetailRow | undefined> {
  const [file] = await filesCalled(db, identifier)
  if (file === undefined || file.clearing === null) return file
  return (await isGone(db, file.folder_id)) ? undefined : file
}

/** One, or none. */
function filesCalled(db: Db, identifier: FileIdentifier): Promise<FileDetailRow[]> {
  switch (identifier.kind) {
    case 'id':
      return fileById(db, identifier.id)
    case 'uuid':
      return fileByUuid(db, identifier.uuid)
    case 'slug':
      return isSlug(identifier.slug) ? fileBySlug(db, identifier.slug) : Promise.resolve([])
  }
}

export type FileSort = 'created_at' | 'name' | 'size' | 'downloads'

export interface FileOrder {
  readonly sort: FileSort
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

export async function listFiles(db: Db, query: FileQuery): Promise<FileListRow[]> {
  const skipsGoing = await hasFilesGoing(db, query)
  const files = listedFiles(db, query, placedFiles(db, query, skipsGoing))
  const isSlow = skipsGoing || query.tree !== undefined || query.offset > FAR
  return isSlow ? besideRequests(db, files) : files.execute()
}

/** Whether the files in question may include some that went with a deleted folder and are not marked yet. */
export async function hasFilesGoing(db: Db, place: Pick<FileQuery, 'account' | 'folder'>): Promise<boolean> {
  return place.folder === null && (await isClearing(db, place.account))
}

/** The live files of an account or a folder; given `among`, those of them, which are few. */
export function placedFiles(
  db: Db,
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

/** The column that a list is sorted by; files that are alike in it are sorted by their ids. */
export function sortColumn({ sort }: FileOrder) {
  return sort === 'name' ? 'name_folded' : sort
}

/** The page of `some` that the query asks for. */
export function listedFiles(db: Db, query: FileQuery, some: SelectQueryBuilder<Tables, 'files', unknown>) {
  const column = `files.${sortColumn(query)}` as const
  // The rows that a late page skips are passed over in the index alone, without looking at their folders.
  const page = some
    .select('files.id')
    .orderBy(column, query.order)
    .orderBy('files.id', query.order)
    .limit(query.limit)
    .offset(query.offset)
  return liveFiles(db)
    .where('files.id', 'in', page)
    .orderBy(column, query.order)
    .orderBy('files.id', query.order)
}

/** The folder's files after `before`, newest first: for walking a folder of any size in steps. */
export function filesBefore(
  db: Db,
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

export interface NewFile {
  readonly uuid: Uuid
  readonly slug: Slug
  readonly account_id: AccountId
  readonly folder_id: FolderId
  readonly blob_id: BlobId
  readonly name: string
  readonly name_folded: string
  readonly size: number
  readonly type: string
  readonly created_at: number
  readonly last_used_at: number
}

/** Throws a unique violation when slug or UUID are taken. */
export async function insertFile(trx: Db, file: NewFile): Promise<FileId> {
  const { rows } = await addFile(
    trx,
    file.uuid,
    file.slug,
    file.account_id,
    file.folder_id,
    file.blob_id,
    file.name,
    file.name_folded,
    file.size,
    file.type,
    file.created_at,
    file.last_used_at,
  )
  const [added] = rows
  if (added === undefined) throw new Error('a new file has an id')
  return added.id
}

const addFile = preparedChange(
  (
    db,
    uuid: Uuid,
    slug: Slug,
    account_id: AccountId,
    folder_id: FolderId,
    blob_id: BlobId,
    name: string,
    name_folded: string,
    size: number,
    type: string,
    created_at: number,
    last_used_at: number,
  ) =>
    db
      .insertInto('files')
      .values({
        uuid,
        slug,
        account_id,
        folder_id,
        blob_id,
        name,
        name_folded,
        size,
        type,
        created_at,
        last_used_at,
      })
      .returning('id'),
)

export async function renameFile(trx: Db, id: FileId, name: string, folded: string): Promise<void> {
  await trx.updateTable('files').set({ name, name_folded: folded }).where('id', '=', id).execute()
}

export async function placeFile(trx: Db, id: FileId, folder: FolderId): Promise<void> {
  await trx.updateTable('files').set({ folder_id: folder }).where('id', '=', id).execute()
}

import type {
  AccountId,
  BlobId,
  BlobKey,
  FileId,
  FileIdentifier,
  FolderId,
  FolderIdentifier,
  Sha256,
  Slug,
  Uuid,
} from '../domain/ids.ts'
import { nameContains } from './differences.ts'
import { prepared } from './prepared.ts'
import type { Db } from './schema.ts'

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
  readonly blob_key: BlobKey
  readonly sha256: Sha256
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
  ])
}

const fileById = prepared((db, id: FileId) => detailedFiles(db).where('files.id', '=', id))
const fileByUuid = prepared((db, uuid: Uuid) => detailedFiles(db).where('files.uuid', '=', uuid))
const fileBySlug = prepared((db, slug: Slug) => detailedFiles(db).where('files.slug', '=', slug))

/** The live file, whoever owns it. */
export async function findFile(db: Db, identifier: FileIdentifier): Promise<FileDetailRow | undefined> {
  switch (identifier.kind) {
    case 'id':
      return (await fileById(db, identifier.id))[0]
    case 'uuid':
      return (await fileByUuid(db, identifier.uuid))[0]
    case 'slug':
      return (await fileBySlug(db, identifier.slug))[0]
  }
}

export type FileSort = 'created_at' | 'name' | 'size' | 'downloads'

export interface FileQuery {
  readonly account: AccountId
  readonly folder: FolderId | null
  /** Folded, or null for every name. */
  readonly needle: string | null
  readonly sort: FileSort
  readonly order: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
}

export function listFiles(db: Db, query: FileQuery): Promise<FileListRow[]> {
  const column = query.sort === 'name' ? 'files.name_folded' : (`files.${query.sort}` as const)
  // The rows that a late page skips are passed over in the index alone, without looking at their folders.
  const page = matching(db, query)
    .select('files.id')
    .orderBy(column, query.order)
    .orderBy('files.id', query.order)
    .limit(query.limit)
    .offset(query.offset)
  return liveFiles(db)
    .where('files.id', 'in', page)
    .orderBy(column, query.order)
    .orderBy('files.id', query.order)
    .execute()
}

/** How many files a search finds. Without a needle the kept totals answer. */
export async function countMatches(db: Db, query: FileQuery): Promise<number> {
  const { total } = await matching(db, query)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

function matching(db: Db, query: FileQuery) {
  const files = db.selectFrom('files').where('files.removed_at', 'is', null)
  // A folder belongs to one account, so naming the account as well would only keep its index from being used.
  const placed =
    query.folder === null
      ? files.where('files.account_id', '=', query.account)
      : files.where('files.folder_id', '=', query.folder)
  return query.needle === null ? placed : placed.where(nameContains(query.needle))
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

export function insertFile(
  trx: Db,
  file: {
    uuid: Uuid
    slug: Slug
    account_id: AccountId
    folder_id: FolderId
    blob_id: BlobId
    name: string
    name_folded: string
    size: number
    type: string
    created_at: number
    last_used_at: number
  },
): Promise<{ id: FileId }> {
  return trx.insertInto('files').values(file).returning('id').executeTakeFirstOrThrow()
}

export async function renameFile(trx: Db, id: FileId, name: string, folded: string): Promise<void> {
  await trx.updateTable('files').set({ name, name_folded: folded }).where('id', '=', id).execute()
}

export async function placeFile(trx: Db, id: FileId, folder: FolderId): Promise<void> {
  await trx.updateTable('files').set({ folder_id: folder }).where('id', '=', id).execute()
}

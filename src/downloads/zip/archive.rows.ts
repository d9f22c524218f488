import { presentDamage } from '../../core/damage.rows.ts'
import type { Database } from '../../database/database.ts'
import type { Damage } from '../../database/schema.ts'
import type { AccountId, BlobId, BlobKey, FileId, FolderId, Sha256 } from '../../domain/ids.ts'
import { orderOfFiles } from '../../files/file-lists.rows.ts'

export interface ArchiveFolderRow {
  readonly id: FolderId
  readonly account_id: AccountId
  readonly parent_id: FolderId | null
  readonly name: string
  readonly is_public: 0 | 1
  readonly password_hash: string | null
  readonly closing: number
  readonly file_count: number
  readonly tree_files: number
  readonly tree_folders: number
  readonly created_at: number
}

const folderColumns = [
  'id',
  'account_id',
  'parent_id',
  'name',
  'is_public',
  'password_hash',
  'closing',
  'file_count',
  'tree_files',
  'tree_folders',
  'created_at',
] as const

export function archiveFolder(db: Database, id: FolderId): Promise<ArchiveFolderRow> {
  return db.selectFrom('folders').select(folderColumns).where('id', '=', id).executeTakeFirstOrThrow()
}

/** Oldest first, at most `limit` with ids over `after`. */
export function archiveSubfolders(
  db: Database,
  parents: readonly FolderId[],
  after: FolderId | null,
  limit: number,
): Promise<ArchiveFolderRow[]> {
  const [parent, another] = parents
  const folders = db.selectFrom('folders').select(folderColumns).where('deleted_at', 'is', null)
  // With a list of one the database would sort each page anew; the index has the order already.
  const placed =
    parent !== undefined && another === undefined
      ? folders.where('parent_id', '=', parent)
      : folders.where('parent_id', 'in', parents)
  const rest = after === null ? placed : placed.where('id', '>', after)
  return db.scan.rows(rest.orderBy('id').limit(limit))
}

export interface ArchiveFileRow {
  readonly id: FileId
  readonly folder_id: FolderId
  readonly name: string
  readonly name_folded: string
  /** Empty until a job fills it in. */
  readonly name_sort: string
  readonly size: number
  readonly created_at: number
  readonly blob_id: BlobId
  readonly blob_key: BlobKey
  readonly sha256: Sha256
  readonly crc32: number
  /** Null for sound bytes. */
  readonly damage: Damage | null
}

function archiveFiles(db: Database) {
  return db
    .selectFrom('files')
    .innerJoin('blobs', 'blobs.id', 'files.blob_id')
    .select([
      'files.id',
      'files.folder_id',
      'files.name',
      'files.name_folded',
      'files.name_sort',
      'files.size',
      'files.created_at',
      'files.blob_id',
      'blobs.key as blob_key',
      'blobs.sha256',
      'blobs.crc32',
    ])
    .select((row) => presentDamage(row).as('damage'))
    .where('files.removed_at', 'is', null)
}

/** For folders with few files; ordered by folder and name. */
export function archiveFilesOf(db: Database, folders: readonly FolderId[]): Promise<ArchiveFileRow[]> {
  const files = archiveFiles(db).where('files.folder_id', 'in', folders)
  return db.scan.rows(files.orderBy('files.folder_id').orderBy(BY_NAME))
}

/** Ordered by name, at most `limit` after `after`. */
export function archiveFilesAfter(
  db: Database,
  folder: FolderId,
  after: Pick<ArchiveFileRow, 'name_sort' | 'name_folded' | 'id'> | null,
  limit: number,
): Promise<ArchiveFileRow[]> {
  const files = archiveFiles(db).where('files.folder_id', '=', folder)
  const rest =
    after === null
      ? files
      : files.where((row) =>
          row(
            row.refTuple('files.name_sort', 'files.name_folded', 'files.id'),
            '>',
            row.tuple(after.name_sort, after.name_folded, after.id),
          ),
        )
  return db.scan.rows(rest.orderBy(BY_NAME).limit(limit))
}

const BY_NAME = orderOfFiles({ sort: 'name', order: 'asc' }, 'files')

export function archiveFilesByIds(db: Database, ids: readonly FileId[]): Promise<ArchiveFileRow[]> {
  return archiveFiles(db).where('files.id', 'in', ids).orderBy('files.id').execute()
}

export async function presentBlobKey(db: Database, id: BlobId): Promise<BlobKey | undefined> {
  const row = await db.selectFrom('blobs').select('key').where('id', '=', id).executeTakeFirst()
  return row?.key
}

import { type Compilable, type Insertable, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Database, isPostgres, type Queryable, type Trx } from '../database/database.ts'
import { greatest } from '../database/differences.ts'
import { lookup, preparedInsert } from '../database/prepared.ts'
import type { Tables } from '../database/schema.ts'
import type {
  AccountId,
  BlobId,
  BlobKey,
  FileId,
  FileIdentifier,
  FolderId,
  Sha256,
  Slug,
  Uuid,
} from '../domain/ids.ts'
import { foldName, sortKeyOfFolded } from '../domain/sort-key.ts'
import { type FileListRow, liveFiles } from './file-lists.rows.ts'
import { type ChainRow, chainOfFile, folderChain, isGone } from './folders/folders.rows.ts'

export interface FileDetailRow extends FileListRow {
  readonly account_id: AccountId
  readonly folder_id: FolderId
  /** Of its account: see `FileHolder` of file-removal.rows.ts. */
  readonly inactive_days: number | null
  readonly last_used_at: number
  readonly views: number
  readonly blob_id: BlobId
  readonly blob_key: BlobKey
  readonly sha256: Sha256
  /** When the stored bytes were last read whole and found sound; null where nobody has since they were stored. */
  readonly verified_at: number | null
  /** Not null while something below a deleted folder of the owner's is not marked as deleted yet. */
  readonly clearing: number | null
}

function detailedFiles(db: Queryable) {
  return liveFiles(db).select((file) => [
    'files.account_id',
    'files.folder_id',
    'files.last_used_at',
    'files.views',
    'files.blob_id',
    file
      .selectFrom('accounts')
      .whereRef('accounts.id', '=', 'files.account_id')
      .select('accounts.inactive_days')
      .as('inactive_days'),
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
      .selectFrom('blobs')
      .whereRef('blobs.id', '=', 'files.blob_id')
      .select('blobs.verified_at')
      .as('verified_at'),
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

interface FileLookups<Row> {
  id(db: Queryable, id: FileId): Promise<Row | undefined>
  uuid(db: Queryable, uuid: Uuid): Promise<Row | undefined>
  slug(db: Queryable, slug: Slug): Promise<Row | undefined>
}

function fileLookups<Row extends FileDetailRow>(
  files: (db: Queryable) => { where(condition: RawBuilder<SqlBool>): Compilable<Row> },
): FileLookups<Row> {
  const fileBy = <Value extends string | number>(column: string, valueIn: (file: Row) => Value) =>
    lookup({ column, build: (db, isWanted) => files(db).where(isWanted), valueIn })
  return {
    id: fileBy('files.id', (file) => file.id),
    uuid: fileBy('files.uuid', (file) => file.uuid),
    slug: fileBy('files.slug', (file) => file.slug),
  }
}

const plainFiles = fileLookups<FileDetailRow>(detailedFiles)

const filesWithChains = fileLookups<FileDetailRow & { readonly chain: readonly ChainRow[] | null }>((db) =>
  detailedFiles(db).select(chainOfFile().as('chain')),
)

/** The live file, whoever owns it. */
export async function findFile(db: Queryable, identifier: FileIdentifier) {
  const file = await fileCalled(plainFiles, db, identifier)
  if (file === undefined || file.clearing === null) return file
  return (await isGone(db, file.folder_id)) ? undefined : file
}

/** A file with its folder and all above that, the outermost first. */
export interface PlacedFile {
  readonly file: FileDetailRow
  readonly chain: readonly ChainRow[]
}

/** The file, whoever owns it, live but for what its chain says. One round trip to PostgreSQL. */
export async function findPlacedFile(
  db: Database,
  identifier: FileIdentifier,
): Promise<PlacedFile | undefined> {
  if (isPostgres(db)) {
    const file = await fileCalled(filesWithChains, db, identifier)
    return file && { file, chain: file.chain ?? [] }
  }
  const file = await fileCalled(plainFiles, db, identifier)
  return file && { file, chain: await folderChain(db, file.folder_id) }
}

function fileCalled<Row>(
  lookups: FileLookups<Row>,
  db: Queryable,
  identifier: FileIdentifier,
): Promise<Row | undefined> {
  if (identifier.kind === 'id') return lookups.id(db, identifier.id)
  if (identifier.kind === 'uuid') return lookups.uuid(db, identifier.uuid)
  return lookups.slug(db, identifier.slug)
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
  const name_sort = sortKeyOfFolded(name_folded)
  await trx.updateTable('files').set({ name, name_folded, name_sort }).where('id', '=', id).execute()
}

export async function placeFile(trx: Trx, id: FileId, folder: FolderId): Promise<void> {
  await trx.updateTable('files').set({ folder_id: folder }).where('id', '=', id).execute()
}

/** Makes a guest's file one of the account, and counts that as a use. */
export async function giveFile(
  trx: Trx,
  id: FileId,
  { account, folder, now }: { readonly account: AccountId; readonly folder: FolderId; readonly now: number },
): Promise<void> {
  await trx
    .updateTable('files')
    .set({ account_id: account, folder_id: folder, last_used_at: greatest(trx, 'last_used_at', now) })
    .where('id', '=', id)
    .execute()
}

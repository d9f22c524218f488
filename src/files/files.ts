import { type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely'
import { noteChange } from '../core/changes.rows.ts'
import { pageAtOneMoment } from '../core/pages-at-one-moment.ts'
import { type Database, isPostgres, type Queryable, type Trx } from '../database/database.ts'
import { greatest, lockAccount } from '../database/differences.ts'
import { lookup, preparedRows } from '../database/prepared.ts'
import type { NewFile } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor, Reach } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName, LONGEST_SEARCH } from '../domain/file-name.ts'
import type {
  AccountId,
  BlobId,
  BlobKey,
  FileId,
  FileIdentifier,
  FolderId,
  FolderPlace,
  Sha256,
  Slug,
  Uuid,
} from '../domain/ids.ts'
import { foldName, sortKeyOfFolded } from '../domain/sort-key.ts'
import { boundedNfc } from '../domain/text.ts'
import { eachByItself } from './batches.ts'
import {
  type FileListRow,
  type FileOrder,
  filesBefore,
  listFiles,
  liveFiles,
  searchFiles,
} from './file-lists.rows.ts'
import {
  type ChainRow,
  chainOfFile,
  changeFiles,
  countedFiles,
  fileCount,
  findFolder,
  folderChain,
  isGone,
} from './folders/folders.rows.ts'
import { assertMayPlace, isWithin, resolvePlace } from './folders/places.ts'
import { transferUse } from './transfers.rows.ts'
import type { Usage } from './use-counters.ts'

export interface FileChange {
  readonly name?: string
  readonly folder?: FolderPlace
}

export type Files = ReturnType<typeof createFiles>

/** A file out of reach is FILE_NOT_FOUND, like a missing one. */
export function createFiles(db: Database, usage: Pick<Usage, 'pending'>, clock: Clock) {
  async function get(reach: Reach, identifier: FileIdentifier): Promise<FileDetailRow> {
    const file = await ownFileBy(filesWithUse, db, reach, identifier)
    const { views, downloads } = usage.pending(file.id)
    const last_used_at = Math.max(file.last_used_at, file.transfer_used_at ?? 0)
    return { ...file, last_used_at, views: file.views + views, downloads: file.downloads + downloads }
  }

  /** Throws Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND or SCOPE_MISSING. */
  function move(reach: Actor, identifier: FileIdentifier, place: FolderPlace): Promise<void> {
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, reach.account)
      await placeWithin(trx, reach, await ownFile(trx, reach, identifier), place, clock.now())
    })
  }

  return {
    get,
    move,

    /** Atomic. Throws Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND or, for a move, SCOPE_MISSING. */
    async change(reach: Actor, identifier: FileIdentifier, change: FileChange): Promise<FileDetailRow> {
      const name = change.name === undefined ? null : cleanFileName(change.name)
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, reach.account)
        const file = await ownFile(trx, reach, identifier)
        if (change.folder !== undefined) await placeWithin(trx, reach, file, change.folder, clock.now())
        if (name === null) return
        await renameFile(trx, file.id, name)
        const { folder_id } = await ownFile(trx, reach, identifier)
        await noteChange(trx, reach.account, { kind: 'file.changed', file: file.id, place: folder_id })
      })
      return get(reach, identifier)
    },

    /** Each by itself, in order. Throws Refusal FOLDER_NOT_FOUND when the destination is unknown. */
    async moveMany(reach: Actor, identifiers: readonly FileIdentifier[], place: FolderPlace) {
      await resolvePlace(db, reach, place)
      return eachByItself(identifiers, (file) => move(reach, file, place))
    },
  }
}

async function placeWithin(
  trx: Trx,
  reach: Actor,
  file: FileDetailRow,
  place: FolderPlace,
  now: number,
): Promise<void> {
  const folder = await resolvePlace(trx, reach, place)
  if (folder === file.folder_id) return
  await assertMayPlace(trx, reach, { from: file.folder_id, to: folder, now })
  await placeFile(trx, file.id, folder)
  await changeFiles(trx, file.folder_id, -1, -file.size)
  await changeFiles(trx, folder, 1, file.size)
  const change = { kind: 'file.moved', file: file.id, place: folder, from: file.folder_id } as const
  await noteChange(trx, reach.account, change)
}

export interface FileListQuery extends FileOrder {
  readonly page: number
  readonly perPage: number
  /** Null means all files within reach. */
  readonly folder: FolderPlace | null
  readonly search: string
  /** Counting may stop at `COUNTED_EXACTLY`. */
  readonly boundsTotal?: boolean
}

export const COUNTED_EXACTLY = 10_000

export interface FilePage {
  readonly files: readonly FileListRow[]
  readonly total: number
  /** False where `total` is a lower bound. */
  readonly isExact: boolean
}

export function createFileLists(db: Database, usage: Pick<Usage, 'pending'>) {
  const counted = (file: FileListRow): FileListRow => {
    const { downloads } = usage.pending(file.id)
    return downloads === 0 ? file : { ...file, downloads: file.downloads + downloads }
  }

  return {
    /** Throws Refusal FOLDER_NOT_FOUND. A page past the end is empty. */
    async list(reach: Reach, query: FileListQuery): Promise<FilePage> {
      const place = await listedPlace(db, reach, query.folder)
      if (place === null) return { files: [], total: 0, isExact: true }
      const found = {
        account: reach.account,
        folder: place.folder,
        ...(place.tree === null ? {} : { tree: place.tree }),
        sort: query.sort,
        order: query.order,
        offset: (query.page - 1) * query.perPage,
        limit: query.perPage,
      }
      if (query.search !== '') {
        const hits = await searchFiles(db, {
          ...found,
          needle: needleOf(query.search),
          ...(query.boundsTotal === true ? { countedTo: COUNTED_EXACTLY } : {}),
        })
        return { ...hits, files: hits.files.map(counted) }
      }
      const { rows, total } = await pageAtOneMoment(place.count, (of) =>
        listFiles(db, found, place.tree === null ? of.total : null, of.isClearing),
      )
      return { files: rows.map(counted), total, isExact: true }
    },

    /** Direct children, newest first. */
    async walk(reach: Reach, place: FolderPlace): Promise<AsyncIterable<FileListRow>> {
      return walkFolder(db, await resolvePlace(db, reach, place))
    },
  }
}

const STEP = 500

/** Newest first; holds one step in memory. */
export async function* walkFolder(db: Database, folder: FolderId): AsyncGenerator<FileListRow> {
  let before: FileListRow | null = null
  for (;;) {
    const step: FileListRow[] = await filesBefore(db, folder, before, STEP)
    yield* step
    before = step.at(-1) ?? null
    if (before === null || step.length < STEP) return
  }
}

/** Throws Refusal INVALID_REQUEST. */
function needleOf(search: string): string {
  const text = boundedNfc(search, LONGEST_SEARCH)
  if (text !== null) return foldName(text)
  throw new Refusal('INVALID_REQUEST', `"search": may have ${LONGEST_SEARCH} characters at most`)
}

interface ListedPlace {
  /** Null means all of the account. */
  readonly folder: FolderId | null
  /** Null means direct children only. */
  readonly tree: 'small' | 'large' | null
  /** `isClearing`: rows may include unmarked ones of a deleted folder. */
  count(): Promise<{ readonly total: number; readonly isClearing: boolean }>
}

/** A tree with more than one in so many of the account's files is large. */
const LARGE_PART = 4

/** Null when nothing is left within reach. Throws Refusal FOLDER_NOT_FOUND. */
async function listedPlace(
  db: Database,
  reach: Reach,
  place: FolderPlace | null,
): Promise<ListedPlace | null> {
  if (place !== null) {
    const folder = await resolvePlace(db, reach, place)
    return { folder, tree: null, count: async () => inFolder(await fileCount(db, folder)) }
  }
  const all = () => countedFiles(db, reach.account)
  if (reach.within === null) return { folder: null, tree: null, count: all }
  const top = await findFolder(db, reach.within)
  if (top === undefined) return null
  const count = async () => inFolder((await findFolder(db, top.id))?.tree_files ?? 0)
  if (top.tree_folders === 0) return { folder: top.id, tree: null, count }
  const isLarge = top.tree_files * LARGE_PART > (await all()).total
  return { folder: top.id, tree: isLarge ? 'large' : 'small', count }
}

function inFolder(total: number) {
  return { total, isClearing: false }
}

export interface FileDetailRow extends FileListRow {
  readonly account_id: AccountId
  readonly folder_id: FolderId
  /** Of its account: see `FileHolder` of expiry.ts. */
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

const filesWithUse = fileLookups<FileDetailRow & { readonly transfer_used_at: number | null }>((db) =>
  detailedFiles(db).select(transferUse('files.folder_id').as('transfer_used_at')),
)

/** The live file, whoever owns it. */
export function findFile(db: Queryable, identifier: FileIdentifier): Promise<FileDetailRow | undefined> {
  return findLiveFile(plainFiles, db, identifier)
}

async function findLiveFile<Row extends FileDetailRow>(
  lookups: FileLookups<Row>,
  db: Queryable,
  identifier: FileIdentifier,
): Promise<Row | undefined> {
  const file = await fileCalled(lookups, db, identifier)
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

const addFiles = preparedRows((db, files: readonly (NewFile & { readonly name_sort: string })[]) =>
  db.insertInto('files').values(files).returning(['id', 'uuid']),
)

/** Throws a unique violation when a slug or UUID is taken. */
export async function insertFiles(trx: Trx, files: readonly NewFile[]): Promise<ReadonlyMap<Uuid, FileId>> {
  const rows = files.map((file) => ({ ...file, name_sort: sortKeyOfFolded(file.name_folded) }))
  return new Map((await addFiles(trx, rows)).map(({ uuid, id }) => [uuid, id]))
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

/** Throws Refusal FILE_NOT_FOUND, also for a foreign file. */
export function ownFile(db: Queryable, reach: Reach, identifier: FileIdentifier): Promise<FileDetailRow> {
  return ownFileBy(plainFiles, db, reach, identifier)
}

async function ownFileBy<Row extends FileDetailRow>(
  lookups: FileLookups<Row>,
  db: Queryable,
  reach: Reach,
  identifier: FileIdentifier,
): Promise<Row> {
  const file = await findLiveFile(lookups, db, identifier)
  if (file === undefined || file.account_id !== reach.account) throw fileNotFound()
  if (!(await isWithin(db, reach, file.folder_id))) throw fileNotFound()
  return file
}

export function fileNotFound(): Refusal {
  return new Refusal('FILE_NOT_FOUND', 'There is no such file')
}

import { type ExpressionBuilder, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { findAccount, topFolder } from '../core/accounts.rows.ts'
import { damageOfFile, isAnyDamaged } from '../core/damage.rows.ts'
import { type Database, MOST_SKIPPED, type Queryable } from '../database/database.ts'
import {
  expectedRows,
  hiddenFromPlanner,
  indexedNames,
  isAmong,
  nameContains,
  skipsInIndex,
  withoutIndex,
} from '../database/differences.ts'
import { prepared } from '../database/prepared.ts'
import type { Damage, Tables, ThumbnailState } from '../database/schema.ts'
import type { AccountId, FileId, FolderId, FolderIdentifier, Slug, Uuid } from '../domain/ids.ts'
import { goingFolders, isBelowDeleted, isClearing, treeOf } from './folders/folders.rows.ts'

/** Only columns that lists show, because a page has a hundred rows. */
export interface FileListRow {
  readonly id: FileId
  readonly uuid: Uuid
  readonly slug: Slug
  readonly name: string
  readonly size: number
  readonly type: string
  readonly created_at: number
  readonly downloads: number
  /** Null at top level. */
  readonly folder_identifier: FolderIdentifier | null
  /** Null while undetermined. */
  readonly thumbnail: ThumbnailState | null
  /** Null for sound bytes; others are not sent. */
  readonly damage: Damage | null
}

const columns = [
  'files.id',
  'files.uuid',
  'files.slug',
  'files.name',
  'files.size',
  'files.type',
  'files.created_at',
  'files.downloads',
] as const

type SomeFiles = SelectQueryBuilder<Tables, 'files', unknown>

function rowsOf(db: Queryable, files: SomeFiles) {
  // Not joined: SQLite takes several times as long to set up a join of single rows.
  return files.select(columns).select((file) => [
    file
      .selectFrom('folders')
      .whereRef('folders.id', '=', 'files.folder_id')
      .select((folder) => shownFolder(folder).as('identifier'))
      .as('folder_identifier'),
    file
      .selectFrom('thumbnails')
      .whereRef('thumbnails.blob_id', '=', 'files.blob_id')
      .select('thumbnails.state')
      .as('thumbnail'),
    damageOfFile(db, file).as('damage'),
  ])
}

/** A join takes less than look-ups, but would also cover rows that an offset skips. Not for damaged contents. */
function firstSoundRowsOf(files: SomeFiles) {
  return files
    .leftJoin('folders', 'folders.id', 'files.folder_id')
    .leftJoin('thumbnails', 'thumbnails.blob_id', 'files.blob_id')
    .select(columns)
    .select('thumbnails.state as thumbnail')
    .select((file) => [shownFolder(file).as('folder_identifier'), sql.lit(null).as('damage')])
}

/** Null for the top level. */
function shownFolder(row: {
  ref: ExpressionBuilder<Tables, 'folders'>['ref']
  case: ExpressionBuilder<Tables, 'folders'>['case']
}) {
  return row.case().when('folders.parent_id', 'is', null).then(null).else(row.ref('folders.identifier')).end()
}

export function liveFiles(db: Queryable) {
  return rowsOf(db, db.selectFrom('files').where('files.removed_at', 'is', null))
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
   * Includes descendants. No index has a tree's order: `small` ones are sorted, for `large` ones the account is read.
   */
  readonly tree?: 'small' | 'large'
  readonly offset: number
  readonly limit: number
}

/** `total`, if known: pages of the second half are read from the end. `hasGoing`: of `hasFilesGoing`, if known. */
export async function listFiles(
  db: Database,
  query: FileQuery,
  total: number | null = null,
  hasGoing: boolean | null = null,
): Promise<FileListRow[]> {
  const skipsGoing = hasGoing ?? (await hasFilesGoing(db, query))
  if (skipsGoing || total === null || query.offset <= total / 2) return pageOfFiles(db, query, skipsGoing)
  const limit = Math.min(query.limit, total - query.offset)
  if (limit <= 0) return []
  const order = query.order === 'asc' ? 'desc' : 'asc'
  const offset = total - query.offset - limit
  return (await pageOfFiles(db, { ...query, order, offset, limit }, false)).reverse()
}

async function pageOfFiles(db: Database, query: FileQuery, skipsGoing: boolean): Promise<FileListRow[]> {
  if (skipsGoing) return pageWhileClearing(db, query)
  const isSlow = query.tree !== undefined || query.offset > MOST_SKIPPED
  if (isSlow) return db.readPool.rows(listedFiles(db, query, placedFiles(db, query, false)))
  const { account, folder, sort, order, limit, offset } = query
  const { firstOfAccount, firstInFolder, ofAccount, inFolder } = PAGES[sort][order]
  if (offset === 0 && !(skipsInIndex(db) && (await isAnyDamaged(db)))) {
    return folder === null ? firstOfAccount(db, account, limit) : firstInFolder(db, folder, limit)
  }
  return folder === null ? ofAccount(db, account, limit, offset) : inFolder(db, folder, limit, offset)
}

/** Rows read and sorted in some milliseconds. */
const FEW_LEFT = 10_000
/** Rows checked one by one in some milliseconds. */
const BEGINNING = 1000

/** Reading large deleted trees takes seconds, and is avoided where few files are left or the page fills soon. */
async function pageWhileClearing(db: Database, query: FileQuery): Promise<FileListRow[]> {
  const left = await findAccount(db, query.account)
  if (left !== undefined && left.files_count <= FEW_LEFT && left.folders_count <= FEW_LEFT) {
    const place = {
      account: query.account,
      folder: await topFolder(db, query.account),
      tree: 'small',
    } as const
    return db.readPool.rows(listedFiles(db, query, placedFiles(db, place, false)))
  }
  if (query.offset + query.limit <= BEGINNING) {
    const page = await db.readPool.rows(metAtBeginning(db, query))
    if (page.length === query.limit) return page
  }
  return db.readPool.rows(listedFiles(db, query, placedFiles(db, query, true)))
}

function metAtBeginning(db: Database, query: FileQuery) {
  const beginning = placedFiles(db, query, false)
    .select([...new Set(['folder_id', ...sortColumns(query)] as const)])
    .orderBy(orderOfFiles(query, 'files'))
    .limit(BEGINNING)
  const met = db
    .selectFrom(beginning.as('files'))
    .select('files.id')
    .where(({ not }) => not(isBelowDeleted('files.folder_id')))
    .orderBy(orderOfFiles(query, 'files'))
    .limit(query.limit)
    .offset(query.offset)
  return liveFiles(db).where('files.id', 'in', met).orderBy(orderOfFiles(query, 'files'))
}

/** The most frequent pages. */
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
  const by = orderOfFiles(order, 'files')
  const live = (db: Queryable) => db.selectFrom('files').where('files.removed_at', 'is', null)
  const owned = (db: Queryable, account: AccountId) =>
    live(db).where('files.account_id', '=', hiddenFromPlanner(db, account))
  const placed = (db: Queryable, folder: FolderId) =>
    live(db).where('files.folder_id', '=', hiddenFromPlanner(db, folder))
  const first = (db: Queryable, some: SomeFiles, limit: number) =>
    (skipsInIndex(db) ? firstSoundRowsOf(some) : rowsOf(db, some))
      .orderBy(by)
      .limit(hiddenFromPlanner(db, limit))
  const page = (db: Queryable, some: SomeFiles, limit: number, offset: number) => {
    const part = <O>(files: SelectQueryBuilder<Tables, 'files', O>) =>
      files.orderBy(by).limit(hiddenFromPlanner(db, limit)).offset(hiddenFromPlanner(db, offset))
    if (skipsInIndex(db)) return part(rowsOf(db, some))
    // Skips the offset's rows in the index alone.
    return liveFiles(db)
      .where(isAmong('files.id', part(some.select('files.id'))))
      .orderBy(by)
  }
  return {
    firstOfAccount: prepared((db, account: AccountId, limit: number) => first(db, owned(db, account), limit)),
    firstInFolder: prepared((db, folder: FolderId, limit: number) => first(db, placed(db, folder), limit)),
    ofAccount: prepared((db, account: AccountId, limit: number, offset: number) =>
      page(db, owned(db, account), limit, offset),
    ),
    inFolder: prepared((db, folder: FolderId, limit: number, offset: number) =>
      page(db, placed(db, folder), limit, offset),
    ),
  }
}

/** Files may include unmarked ones of a deleted folder. */
export async function hasFilesGoing(
  db: Database,
  place: Pick<FileQuery, 'account' | 'folder'>,
): Promise<boolean> {
  return place.folder === null && (await isClearing(db, place.account))
}

/** `among`: a small subset. */
export function placedFiles(
  db: Database,
  place: Pick<FileQuery, 'account' | 'folder' | 'tree'>,
  skipsGoing: boolean,
  among: RawBuilder<FileId> | null = null,
) {
  const live = db.selectFrom('files').where('files.removed_at', 'is', null)
  const files = among === null ? live : live.where('files.id', 'in', among)
  // SQLite would take any account for a small one, and prefer its index to that of the ids.
  const column = <T>(name: string) => (among === null ? sql.ref<T>(name) : withoutIndex<T>(name))
  if (place.folder !== null && place.tree === 'small') {
    return files.where(column<FolderId>('files.folder_id'), 'in', treeOf(place.folder))
  }
  if (place.folder !== null && place.tree === 'large') {
    return files
      .where(column<AccountId>('files.account_id'), '=', place.account)
      .where(withoutIndex<FolderId>('files.folder_id'), 'in', treeOf(place.folder))
  }
  // A folder implies its account, and naming that too would keep the folder's index from being used.
  if (place.folder !== null) return files.where(column<FolderId>('files.folder_id'), '=', place.folder)
  const owned = files.where(column<AccountId>('files.account_id'), '=', place.account)
  if (!skipsGoing) return owned
  return among === null
    ? owned.where('files.folder_id', 'not in', goingFolders(place.account))
    : owned.where(({ not }) => not(isBelowDeleted('files.folder_id')))
}

/** Names that differ only in accents or leading zeros have equal keys. */
export function sortColumns({ sort }: FileOrder) {
  return sort === 'name' ? (['name_sort', 'name_folded', 'id'] as const) : ([sort, 'id'] as const)
}

export function orderOfFiles(order: FileOrder, table: string): RawBuilder<unknown> {
  const direction = sql.raw(order.order)
  return sql.join(sortColumns(order).map((column) => sql`${sql.ref(`${table}.${column}`)} ${direction}`))
}

export function listedFiles(
  db: Queryable,
  query: FileOrder & Pick<FileQuery, 'offset' | 'limit'>,
  some: SomeFiles,
) {
  const order = orderOfFiles(query, 'files')
  // Skips a late page's rows in the index alone, without reading their folders.
  const page = some.select('files.id').orderBy(order).limit(query.limit).offset(query.offset)
  return liveFiles(db).where('files.id', 'in', page).orderBy(order)
}

/** Newest first. */
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

export interface FileSearch extends FileQuery {
  /** Folded, not empty. */
  readonly needle: string
  /** Hits; the page's end if that is later. By default all are counted. */
  readonly countedTo?: number
}

/** More hits are frequent enough to be met soon in name order. */
const FEW = 20_000
/** `FEW` where all names are read. */
const FEW_READ = 200

/** Expected hits that are soon met in any order. */
const MANY = 100_000
/** Names read in some milliseconds. */
const SEARCHED_FIRST = 5000

export interface FileHits {
  readonly files: FileListRow[]
  /** All hits, or a lower bound. */
  readonly total: number
  readonly isExact: boolean
}

export async function searchFiles(db: Database, search: FileSearch): Promise<FileHits> {
  const { files, total: counted } = await hitsOf(db, search)
  // Hits may come between the count and the page.
  const total = files.length === 0 ? counted : Math.max(counted, search.offset + files.length)
  const most = mostCounted(search)
  return { files, total: Math.min(total, most), isExact: total <= most }
}

type Hits = Omit<FileHits, 'isExact'>

/** The next page, however far, is counted too. */
function mostCounted({ countedTo, offset, limit }: FileSearch): number {
  return countedTo === undefined ? Number.POSITIVE_INFINITY : Math.max(countedTo, offset + 2 * limit)
}

async function hitsOf(db: Database, search: FileSearch): Promise<Hits> {
  const skipsGoing = await hasFilesGoing(db, search)
  const named = placedFiles(db, search, skipsGoing).where(nameContains(db, search.needle))
  if (search.folder === null && !skipsGoing) {
    const expected = await expectedRows(db, named.select('files.id'))
    if (expected !== null) return searchAccount(db, search, named, expected)
  }
  // Trigram indexes do not cover shorter needles.
  const isShort = [...search.needle].length < 3
  const few = isShort ? await fewRead(db, named) : await fewHits(db, search.needle)
  const hits = few === null ? named : placedFiles(db, search, skipsGoing, few)
  return inOrder(db, search, hits)
}

/** With few or late hits one pass takes PostgreSQL half the time of two. */
async function searchAccount(
  db: Database,
  search: FileSearch,
  named: SomeFiles,
  expected: number,
): Promise<Hits> {
  if (expected > MANY) return inOrder(db, search, named)
  if (expected > FEW_READ) {
    const met = await hitsAtBeginning(db, search)
    if (met.length === search.limit) {
      const [files, total] = await Promise.all([theseFiles(db, search, met), countOf(db, search, named)])
      return { files, total }
    }
  }
  const { page, total } = await gathered(db, search, named)
  return { files: await theseFiles(db, search, page), total }
}

async function inOrder(db: Database, search: FileSearch, hits: SomeFiles): Promise<Hits> {
  const [files, total] = await Promise.all([
    db.readPool.rows(listedFiles(db, search, hits)),
    countOf(db, search, hits),
  ])
  return { files, total }
}

async function hitsAtBeginning(db: Database, search: FileSearch): Promise<FileId[]> {
  const { limit, offset, needle } = search
  const beginning = placedFiles(db, search, false)
    .select([...new Set(['name_folded', ...sortColumns(search)] as const)])
    .orderBy(orderOfFiles(search, 'files'))
    .limit(SEARCHED_FIRST)
  const rows = await db
    .selectFrom(beginning.as('files'))
    .select('files.id')
    .where(nameContains(db, needle))
    .orderBy(orderOfFiles(search, 'files'))
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ id }) => id)
}

async function gathered(
  db: Database,
  search: FileSearch,
  named: SomeFiles,
): Promise<{ readonly page: FileId[]; readonly total: number }> {
  const { limit, offset } = search
  // The offset makes PostgreSQL plan the subquery separately: to find all hits, not some in order.
  const hits = named.select(sortColumns(search)).offset(0)
  const rows = await db
    .selectFrom(hits.as('hits'))
    .select(['hits.id', sql<number>`count(*) over ()`.as('total')])
    .orderBy(orderOfFiles(search, 'hits'))
    .limit(limit)
    .offset(offset)
    .execute()
  const [first] = rows
  // A page after the last has no row with the total.
  const total = first?.total ?? (offset === 0 ? 0 : await countOf(db, search, named))
  return { page: rows.map(({ id }) => id), total }
}

async function theseFiles(db: Database, search: FileSearch, ids: readonly FileId[]): Promise<FileListRow[]> {
  if (ids.length === 0) return []
  const these = placedFiles(db, search, false, sql`(${sql.join(ids)})`)
  return listedFiles(db, { ...search, offset: 0 }, these).execute()
}

/** Counts one more than the limit. */
async function countOf(db: Database, search: FileSearch, files: SomeFiles): Promise<number> {
  const total = sql<number>`count(*)`.as('total')
  const most = mostCounted(search)
  const counted = Number.isFinite(most)
    ? db
        .selectFrom(
          files
            .select('files.id')
            .limit(most + 1)
            .as('some'),
        )
        .select(total)
    : files.select(total)
  const [count] = await db.readPool.rows(counted)
  return count?.total ?? 0
}

/** Null when they are many, or no index applies. */
async function fewHits(db: Database, needle: string): Promise<RawBuilder<FileId> | null> {
  const hits = indexedNames(db, needle, FEW + 1)
  if (hits === null) return null
  const counted = db.selectFrom(sql`${hits}`.as('hits')).select(sql<number>`count(*)`.as('names'))
  const [found] = await db.readPool.rows(counted)
  return found !== undefined && found.names <= FEW ? hits : null
}

async function fewRead(db: Database, files: SomeFiles): Promise<RawBuilder<FileId> | null> {
  const found = await db.readPool.rows(files.select('files.id').limit(FEW_READ + 1))
  if (found.length > FEW_READ) return null
  return found.length === 0 ? sql<FileId>`(null)` : sql<FileId>`(${sql.join(found.map(({ id }) => id))})`
}

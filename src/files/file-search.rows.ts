import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { expectedRows, indexedNames, nameContains } from '../database/differences.ts'
import type { Tables } from '../database/schema.ts'
import type { FileId } from '../domain/ids.ts'
import {
  type FileListRow,
  type FileQuery,
  hasFilesGoing,
  listedFiles,
  orderOfFiles,
  placedFiles,
  sortColumns,
} from './file-lists.rows.ts'

export interface FileSearch extends FileQuery {
  /** Folded, not empty. */
  readonly needle: string
  /** Hits are counted no further than this, or than the page reaches where that is more. Left out: all are. */
  readonly countedTo?: number
}

/**
 * Up to so many hits are looked up one by one and sorted. With more, hits are frequent enough to be met soon when the
 * names are read in the order asked for.
 */
const FEW = 20_000
/** The same where all names are read for them: so many are met soon, or there are no more. */
const FEW_READ = 200

/** So many expected hits are many: some are soon met in any order. */
const MANY = 100_000
/** So many names are read in the order asked for, which takes some milliseconds. */
const BEGINNING = 5000

export interface FileHits {
  /** One page of them. */
  readonly files: FileListRow[]
  /** How many there are in all, or at least. */
  readonly total: number
  readonly isExact: boolean
}

type SomeFiles = SelectQueryBuilder<Tables, 'files', unknown>

/** The files whose names hold the needle. */
export async function searchFiles(db: Database, search: FileSearch): Promise<FileHits> {
  const { files, total: counted } = await hitsOf(db, search)
  // Hits may come between the count and the page.
  const total = files.length === 0 ? counted : Math.max(counted, search.offset + files.length)
  const most = mostCounted(search)
  return { files, total: Math.min(total, most), isExact: total <= most }
}

type Hits = Omit<FileHits, 'isExact'>

/** A page tells of what is on it and on the next one, however far it lies. */
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
  // No index of trigrams knows what is shorter than one.
  const isShort = [...search.needle].length < 3
  const few = isShort ? await fewRead(db, named) : await fewHits(db, search.needle)
  const hits = few === null ? named : placedFiles(db, search, skipsGoing, few)
  return inOrder(db, search, hits)
}

/**
 * To read all names in an order and to count hits beside that takes PostgreSQL twice as long as to do both in one go, if
 * hits are few or come late. Where they are many or come soon, a page is found at once, and several processes count.
 */
async function searchAccount(
  db: Database,
  search: FileSearch,
  named: SomeFiles,
  expected: number,
): Promise<Hits> {
  if (expected > MANY) return inOrder(db, search, named)
  if (expected > FEW_READ) {
    const met = await metAtBeginning(db, search)
    if (met.length === search.limit) {
      const [files, total] = await Promise.all([theseFiles(db, search, met), countOf(db, search, named)])
      return { files, total }
    }
  }
  const { page, total } = await gathered(db, search, named)
  return { files: await theseFiles(db, search, page), total }
}

/** Reads the hits in the order asked for until the page is full, and counts them beside that. */
async function inOrder(db: Database, search: FileSearch, hits: SomeFiles): Promise<Hits> {
  const [files, total] = await Promise.all([
    db.readPool.rows(listedFiles(db, search, hits)),
    countOf(db, search, hits),
  ])
  return { files, total }
}

/** What the page holds as far as the first names of the order tell. */
async function metAtBeginning(db: Database, search: FileSearch): Promise<FileId[]> {
  const { limit, offset, needle } = search
  const beginning = placedFiles(db, search, false)
    .select([...new Set(['name_folded', ...sortColumns(search)] as const)])
    .orderBy(orderOfFiles(search, 'files'))
    .limit(BEGINNING)
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

/** The ids on the page, and how many hits there are in all: read once. */
async function gathered(
  db: Database,
  search: FileSearch,
  named: SomeFiles,
): Promise<{ readonly page: FileId[]; readonly total: number }> {
  const { limit, offset } = search
  // A subquery with an offset is planned by itself: to find all hits, and not to meet some of them in this order.
  const hits = named.select(sortColumns(search)).offset(0)
  const rows = await db
    .selectFrom(hits.as('hits'))
    .select(['hits.id', sql<number>`count(*) over ()`.as('total')])
    .orderBy(orderOfFiles(search, 'hits'))
    .limit(limit)
    .offset(offset)
    .execute()
  const [first] = rows
  // A page after the last has no row that could tell.
  const total = first?.total ?? (offset === 0 ? 0 : await countOf(db, search, named))
  return { page: rows.map(({ id }) => id), total }
}

async function theseFiles(db: Database, search: FileSearch, ids: readonly FileId[]): Promise<FileListRow[]> {
  if (ids.length === 0) return []
  const these = placedFiles(db, search, false, sql`(${sql.join(ids)})`)
  return listedFiles(db, { ...search, offset: 0 }, these).execute()
}

/** One more than are counted tells that there are more. */
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

/** The files that an index knows to hold the needle; null when they are many, or when no index tells. */
async function fewHits(db: Database, needle: string): Promise<RawBuilder<FileId> | null> {
  const hits = indexedNames(db, needle, FEW + 1)
  if (hits === null) return null
  const counted = db.selectFrom(sql`${hits}`.as('hits')).select(sql<number>`count(*)`.as('names'))
  const [found] = await db.readPool.rows(counted)
  return found !== undefined && found.names <= FEW ? hits : null
}

/** All of the files; null when they are many. */
async function fewRead(db: Database, files: SomeFiles): Promise<RawBuilder<FileId> | null> {
  const found = await db.readPool.rows(files.select('files.id').limit(FEW_READ + 1))
  if (found.length > FEW_READ) return null
  return found.length === 0 ? sql<FileId>`(null)` : sql<FileId>`(${sql.join(found.map(({ id }) => id))})`
}

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
const BEGINNING = 5000

export interface FileHits {
  readonly files: FileListRow[]
  /** All hits, or a lower bound. */
  readonly total: number
  readonly isExact: boolean
}

type SomeFiles = SelectQueryBuilder<Tables, 'files', unknown>

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
    const met = await metAtBeginning(db, search)
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

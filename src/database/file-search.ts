import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { FileId } from '../domain/ids.ts'
import { besideRequests } from './beside.ts'
import { indexedNames, nameHolds } from './differences.ts'
import { type FileListRow, type FileQuery, hasFilesGoing, listedFiles, placedFiles } from './files.ts'
import type { Db, Tables } from './schema.ts'

export interface FileSearch extends FileQuery {
  /** Folded, not empty. */
  readonly needle: string
}

/**
 * Up to so many hits are looked up one by one and sorted. With more, hits are frequent enough to be met soon when the
 * names are read in the order asked for.
 */
const FEW = 20_000
/** The same where all names are read for them: so many are met soon, or there are no more. */
const FEW_READ = 200

/** One page of the files whose names hold the needle, and how many there are in all. */
export async function searchFiles(
  db: Db,
  search: FileSearch,
): Promise<{ files: FileListRow[]; total: number }> {
  const skipsGoing = await hasFilesGoing(db, search)
  const named = placedFiles(db, search, skipsGoing).where(nameHolds(db, search.needle))
  // No index of trigrams knows what is shorter than one.
  const isShort = [...search.needle].length < 3
  const few = isShort ? await fewRead(db, named) : await fewHits(db, search.needle)
  const hits = few === null ? named : placedFiles(db, search, skipsGoing, few)
  const [files, [count]] = await Promise.all([
    besideRequests(db, listedFiles(db, search, hits)),
    besideRequests(db, hits.select(sql<number>`count(*)`.as('total'))),
  ])
  return { files, total: count?.total ?? 0 }
}

/** The files that an index knows to hold the needle; null when they are many, or when no index tells. */
async function fewHits(db: Db, needle: string): Promise<RawBuilder<FileId> | null> {
  const hits = indexedNames(db, needle, FEW + 1)
  if (hits === null) return null
  const counted = db.selectFrom(sql`${hits}`.as('hits')).select(sql<number>`count(*)`.as('names'))
  const [found] = await besideRequests(db, counted)
  return found !== undefined && found.names <= FEW ? hits : null
}

/** All of the files; null when they are many. */
async function fewRead(
  db: Db,
  files: SelectQueryBuilder<Tables, 'files', unknown>,
): Promise<RawBuilder<FileId> | null> {
  const found = await besideRequests(db, files.select('files.id').limit(FEW_READ + 1))
  if (found.length > FEW_READ) return null
  return found.length === 0 ? sql<FileId>`(null)` : sql<FileId>`(${sql.join(found.map(({ id }) => id))})`
}

/** Pages of a SQLite file by what they hold, so that a test can damage one of each kind (https://sqlite.org/fileformat2.html). */
import { Database } from 'bun:sqlite'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

export type PageKind = 'table leaf' | 'table interior' | 'index leaf' | 'index interior' | 'freelist'

export interface SqlitePage {
  /** From 1. */
  readonly number: number
  readonly kind: PageKind
  /** Table or index that it belongs to; null for the free list. */
  readonly of: string | null
}

const KINDS: Readonly<Record<number, PageKind>> = {
  2: 'index interior',
  5: 'table interior',
  10: 'index leaf',
  13: 'table leaf',
}
const FIRST_PAGE_HEADER = 100
const FREELIST_TRUNK = 32

/** All b-tree pages and trunks of the free list; the log must be empty. */
export function pagesOf(path: string): SqlitePage[] {
  using database = new Database(path)
  database.run('pragma wal_checkpoint(truncate)')
  const size = pageSize(database)
  const roots = database
    .query<{ name: string; rootpage: number }, []>(
      'select name, rootpage from sqlite_schema where rootpage > 0',
    )
    .all()
  const bytes = readFileSync(path)
  const found: SqlitePage[] = []
  const walk = (number: number, of: string): void => {
    const page = bytes.subarray((number - 1) * size, number * size)
    const at = number === 1 ? FIRST_PAGE_HEADER : 0
    const type = page.readUInt8(at)
    const kind = KINDS[type]
    if (kind === undefined) throw new Error(`page ${number} is of no kind`)
    found.push({ number, kind, of })
    if (type !== 2 && type !== 5) return
    const cells = page.readUInt16BE(at + 3)
    for (let cell = 0; cell < cells; cell++) {
      walk(page.readUInt32BE(page.readUInt16BE(at + 12 + 2 * cell)), of)
    }
    walk(page.readUInt32BE(at + 8), of)
  }
  for (const { name, rootpage } of roots) walk(rootpage, name)
  for (let trunk = bytes.readUInt32BE(FREELIST_TRUNK); trunk !== 0; ) {
    found.push({ number: trunk, kind: 'freelist', of: null })
    trunk = bytes.readUInt32BE((trunk - 1) * size)
  }
  return found
}

/** Overwrites the page, as a disk does that returns what belongs elsewhere. */
export function damagePage(path: string, { number }: Pick<SqlitePage, 'number'>): void {
  using database = new Database(path)
  const size = pageSize(database)
  const file = openSync(path, 'r+')
  try {
    writeSync(file, Buffer.alloc(size, 0xa5), 0, size, (number - 1) * size)
  } finally {
    closeSync(file)
  }
}

function pageSize(database: Database): number {
  const row = database.query<{ page_size: number }, []>('pragma page_size').get()
  if (row === null) throw new Error('the file has no page size')
  return row.page_size
}

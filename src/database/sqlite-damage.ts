/** Damage of a SQLite file: what queries have met, and what a look at every page finds. */
import type { Database as SqliteFile } from 'bun:sqlite'
import { openForScanning } from './sqlite-file.ts'

/** Whether SQLite could not make sense of what it read, or the disk could not read it. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^SQLITE_(CORRUPT|NOTADB|IOERR_(READ|SHORT_READ|DATA|CORRUPTFS))/.test(code)
}

/** What this process knows of damage in its database. Other queries are answered meanwhile. */
export class KnownDamage {
  #isPresent = false
  #isUnchecked = false

  /** Notes an error of a query if it tells of damage. Returns the error. */
  met<T>(error: T): T {
    if (isDamage(error)) {
      this.#isPresent = true
      this.#isUnchecked = true
    }
    return error
  }

  /** Notes the result of a check that began after `beginCheck`. */
  checked(isDamaged: boolean): void {
    this.#isPresent = isDamaged || this.#isUnchecked
  }

  beginCheck(): void {
    this.#isUnchecked = false
  }

  /** Whether a query failed because of damage, or a check found some, and no check has found the whole sound since. */
  get isPresent(): boolean {
    return this.#isPresent
  }

  /** Whether a query has met damage since the last check began. */
  get isUnchecked(): boolean {
    return this.#isUnchecked
  }
}

export interface DamagedPart {
  /** Table or index as in the schema; null for the list of free pages. */
  readonly name: string | null
  /** Indexes and free pages are made anew without loss from the tables. */
  readonly kind: 'table' | 'index' | 'free pages'
  /** SQLite's words. */
  readonly reason: string
}

/** Faults that are listed of one table, and parts of the whole: the first ones tell what it is. */
const MOST_REASONS = 20
const MOST_PARTS = 100

/**
 * Reads every page of the file, one table with its indexes after another, each in a read transaction of its own, so that the
 * write-ahead log of a server that works beside it does not grow for as long as the whole takes. Takes a second for a
 * gigabyte in memory, and as long as the disk takes otherwise. `beforeEach` is awaited before each table is read, and ends
 * the check by what it throws.
 */
export async function damagedParts(
  path: string,
  beforeEach: (table: string) => Promise<void>,
): Promise<readonly DamagedPart[]> {
  const found: DamagedPart[] = []
  let tables: string[]
  try {
    tables = tablesOf(path)
  } catch (error) {
    if (!isDamage(error)) throw error
    return [{ name: 'sqlite_schema', kind: 'table', reason: String(error) }]
  }
  for (const table of tables) {
    await beforeEach(table)
    found.push(...damageOfTable(path, table))
  }
  return found.slice(0, MOST_PARTS)
}

/** Virtual tables are none: what they hold is in tables of their own. */
function tablesOf(path: string): string[] {
  return withFile(path, (file) =>
    file
      .query<{ name: string }, []>(
        "select name from pragma_table_list where schema = 'main' and type in ('table', 'shadow') order by name",
      )
      .all()
      .map(({ name }) => name),
  )
}

function damageOfTable(path: string, table: string): DamagedPart[] {
  const reasons = withFile(path, (file) => reasonsOf(file, table))
  if (reasons.length === 0) return []
  const names = namesByRoot(path)
  const trees = new Set(
    reasons.flatMap((reason) => [...reason.matchAll(/\bTree (\d+)/g)].map((tree) => Number(tree[1]))),
  )
  const parts: Omit<DamagedPart, 'reason'>[] = [...trees].flatMap((root) => names.get(root) ?? [])
  // Looked at with the schema.
  if (reasons.some((reason) => /free-?list/i.test(reason))) parts.push({ name: null, kind: 'free pages' })
  const reason = reasons.join('; ').replaceAll(/\s+/g, ' ').slice(0, 300)
  if (parts.length > 0) return parts.map((part) => ({ ...part, reason }))
  // Without a page it is a difference between a table and an index.
  return [{ name: table, kind: 'table', reason }]
}

function reasonsOf(file: SqliteFile, table: string): string[] {
  const reasons: string[] = []
  const quoted = table.replaceAll("'", "''")
  try {
    const check = file.query<{ quick_check: string }, []>(`pragma quick_check('${quoted}')`)
    for (const { quick_check: reason } of check.iterate()) {
      if (reason !== 'ok' && reasons.length < MOST_REASONS) reasons.push(reason)
    }
  } catch (error) {
    // The check itself stops at a page that it cannot make sense of, mostly after it has said so.
    if (!isDamage(error)) throw error
    if (reasons.length === 0) reasons.push(error instanceof Error ? error.message : String(error))
  }
  return reasons
}

function namesByRoot(path: string): Map<number, { name: string; kind: 'table' | 'index' }> {
  const rows = withFile(path, (file) =>
    file
      .query<{ name: string; type: string; rootpage: number }, []>(
        'select name, type, rootpage from sqlite_schema where rootpage > 0',
      )
      .all(),
  )
  return new Map(
    rows.map(({ name, type, rootpage }) => [rootpage, { name, kind: type === 'index' ? 'index' : 'table' }]),
  )
}

/** A connection of its own for each look, so that none keeps pages of the one before. */
function withFile<T>(path: string, look: (file: SqliteFile) => T): T {
  const file = openForScanning(path)
  try {
    return look(file)
  } finally {
    file.close()
  }
}

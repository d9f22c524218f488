import type { Database as SqliteFile } from 'bun:sqlite'
import { openForScanning } from './sqlite-file.ts'

/** SQLite could not interpret what it read, or the disk failed to read. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^SQLITE_(CORRUPT|NOTADB|IOERR_(READ|SHORT_READ|DATA|CORRUPTFS))/.test(code)
}

export class KnownDamage {
  #isPresent = false
  #isUnchecked = false

  met<T>(error: T): T {
    if (isDamage(error)) {
      this.#isPresent = true
      this.#isUnchecked = true
    }
    return error
  }

  /** Result of a check begun after `beginCheck`. */
  checked(isDamaged: boolean): void {
    this.#isPresent = isDamaged || this.#isUnchecked
  }

  beginCheck(): void {
    this.#isUnchecked = false
  }

  /** Met or found, and no later check found the whole sound. */
  get isPresent(): boolean {
    return this.#isPresent
  }

  get isUnchecked(): boolean {
    return this.#isUnchecked
  }
}

export interface DamagedPart {
  /** Null for the list of free pages. */
  readonly name: string | null
  /** Indexes and free pages can be rebuilt without loss. */
  readonly kind: 'table' | 'index' | 'free pages'
  readonly reason: string
}

const MOST_REASONS = 20
const MOST_PARTS = 100

/**
 * Checks every page, table by table with its indexes, each in its own read transaction, so that a running server's
 * write-ahead log does not grow meanwhile. A second per gigabyte in memory, otherwise the disk's time. `beforeEach` is
 * awaited before each table; its error ends the check.
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

/** Without virtual tables, whose content is in tables of their own. */
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
  // Checked with the schema.
  if (reasons.some((reason) => /free-?list/i.test(reason))) parts.push({ name: null, kind: 'free pages' })
  const reason = reasons.join('; ').replaceAll(/\s+/g, ' ').slice(0, 300)
  if (parts.length > 0) return parts.map((part) => ({ ...part, reason }))
  // Without a page: a difference between table and index.
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
    // The check stops at an unreadable page, mostly after reporting it.
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

/** A connection per check, so that none keeps earlier pages. */
function withFile<T>(path: string, look: (file: SqliteFile) => T): T {
  const file = openForScanning(path)
  try {
    return look(file)
  } finally {
    file.close()
  }
}

import type { SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'
import { type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import { Database } from './database.ts'
import { DirectReads, SharedReads } from './direct-reads.ts'
import { bindings, openFile, openForReading, openForScanning } from './sqlite-file.ts'
import { ReadingThreads } from './sqlite-readers.ts'

/**
 * Opens the SQLite file, creating it if it is missing. Write-ahead log, full sync and foreign keys are
 * asserted, because durability through power cuts depends on them.
 */
export function openSqlite(path: string): Database {
  const file = openFile(path)
  file.run('PRAGMA journal_mode = WAL')
  file.run('PRAGMA synchronous = FULL')
  file.run('PRAGMA foreign_keys = ON')
  expectPragma(file, 'journal_mode', 'wal')
  expectPragma(file, 'synchronous', 2)
  expectPragma(file, 'foreign_keys', 1)
  const read = new SharedReads(openForReading(path))
  const scan = new DirectReads(openForScanning(path))
  const readPool = new ReadingThreads(path)
  const close = () => {
    readPool.close()
    scan.close()
    read.close()
    file.close()
  }
  const dialect = new SqliteDialect({ database: asKyselyDatabase(file, read, close) })
  return new Database(dialect, { read, scan, readPool })
}

function expectPragma(file: SqliteFile, name: string, wanted: string | number): void {
  const row = file.query<Record<string, string | number>, []>(`PRAGMA ${name}`).get()
  if (row?.[name] !== wanted) throw new Error(`SQLite does not keep ${name} = ${wanted} on this file system`)
}

/** Adapts Bun's SQLite to the interface of Kysely's dialect; caches statements by text. */
function asKyselyDatabase(file: SqliteFile, reads: SharedReads, close: () => void): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>()
  return {
    close,
    prepare(text) {
      let statement = statements.get(text)
      if (statement === undefined) {
        statement = asKyselyStatement(file, reads, text)
        if (statements.size < MOST_STATEMENTS) statements.set(text, statement)
      }
      return statement
    },
  }
}

/** Limit of the statement cache: texts vary with the length of lists in them. */
const MOST_STATEMENTS = 500

function asKyselyStatement(file: SqliteFile, reads: SharedReads, text: string): SqliteStatement {
  if (text === 'rollback') return rollback(file)
  // Every transaction takes the write lock at its beginning: one that reads before it writes would fail when
  // another process wrote in between.
  const statement = file.prepare<unknown, SQLQueryBindings[]>(text === 'begin' ? 'begin immediate' : text)
  return {
    reader: statement.columnNames.length > 0,
    all(parameters) {
      reads.refresh()
      return statement.all(...bindings(parameters))
    },
    run(parameters) {
      reads.refresh()
      return statement.run(...bindings(parameters))
    },
    iterate: (parameters) => statement.iterate(...bindings(parameters)),
  }
}

/** SQLite rolls back by itself when a commit fails; another rollback would hide the original error. */
function rollback(file: SqliteFile): SqliteStatement {
  const none = { changes: 0, lastInsertRowid: 0 }
  return {
    reader: false,
    all: () => [],
    run: () => (file.inTransaction ? file.run('rollback') : none),
    iterate: () => [][Symbol.iterator](),
  }
}

import type { SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import { type DirectReads, directReads, type SharedReads, sharedReads } from './direct-reads.ts'
import type { Db, Tables } from './schema.ts'
import { bindings, openFile, openForReading, openForScanning } from './sqlite-file.ts'
import { createReaders, type Readers } from './sqlite-readers.ts'

/**
 * Opens the SQLite file, making it when it is missing. Write-ahead log, full sync and foreign keys are asserted,
 * because what Holdfast promises about power cuts rests on them.
 */
export function openSqlite(path: string): Db {
  const file = openFile(path)
  file.run('PRAGMA journal_mode = WAL')
  file.run('PRAGMA synchronous = FULL')
  file.run('PRAGMA foreign_keys = ON')
  expectPragma(file, 'journal_mode', 'wal')
  expectPragma(file, 'synchronous', 2)
  expectPragma(file, 'foreign_keys', 1)
  const reading = openForReading(path)
  const reads = sharedReads(reading)
  const scanning = openForScanning(path)
  const beside = createReaders(path)
  const close = () => {
    beside.close()
    scanning.close()
    reads.refresh()
    reading.close()
    file.close()
  }
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: asKyselyDatabase(file, reads, close) }),
  })
  directReadsFor.set(db, reads)
  scanReads.set(db, directReads(scanning))
  readers.set(db, beside)
  return db
}

const directReadsFor = new WeakMap<Db, DirectReads>()

/** Null inside a transaction, which has to see its own changes. */
export function directReadsOf(db: Db): DirectReads | null {
  return directReadsFor.get(db) ?? null
}

const scanReads = new WeakMap<Db, DirectReads>()

/** The same, for those who pass over very many rows once and would fill a cache with them. */
export function scanReadsOf(db: Db): DirectReads | null {
  return scanReads.get(db) ?? null
}

const readers = new WeakMap<Db, Readers>()

/** The threads that answer long queries on SQLite; null for PostgreSQL, and inside a transaction. */
export function readersOf(db: Db): Readers | null {
  return readers.get(db) ?? null
}

function expectPragma(file: SqliteFile, name: string, wanted: string | number): void {
  const row = file.query<Record<string, string | number>, []>(`PRAGMA ${name}`).get()
  if (row?.[name] !== wanted) throw new Error(`SQLite does not keep ${name} = ${wanted} on this file system`)
}

/** Gives Bun's SQLite the face that Kysely's dialect expects; statements are kept by their text. */
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

/** Texts vary with the length of lists in them, so they are not kept without end. */
const MOST_STATEMENTS = 500

function asKyselyStatement(file: SqliteFile, reads: SharedReads, text: string): SqliteStatement {
  if (text === 'rollback') return rollback(file)
  // A transaction that reads before it writes would fail when another process wrote in between, so every
  // transaction takes the write lock as it begins.
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

/** SQLite rolls back by itself when a commit fails; asking again would hide why it failed. */
function rollback(file: SqliteFile): SqliteStatement {
  const none = { changes: 0, lastInsertRowid: 0 }
  return {
    reader: false,
    all: () => [],
    run: () => (file.inTransaction ? file.run('rollback') : none),
    iterate: () => [][Symbol.iterator](),
  }
}

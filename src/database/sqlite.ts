import { type SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import type { Db, Tables } from './schema.ts'

/**
 * Opens the SQLite file, making it when it is missing. Write-ahead log, full sync and foreign keys are asserted,
 * because what Holdfast promises about power cuts rests on them.
 */
export function openSqlite(path: string): Db {
  const file = new SqliteFile(path, { create: true, strict: true })
  file.run('PRAGMA busy_timeout = 10000')
  file.run('PRAGMA journal_mode = WAL')
  file.run('PRAGMA synchronous = FULL')
  file.run('PRAGMA foreign_keys = ON')
  file.run('PRAGMA cache_size = -32768')
  file.run('PRAGMA temp_store = MEMORY')
  expectPragma(file, 'journal_mode', 'wal')
  expectPragma(file, 'synchronous', 2)
  expectPragma(file, 'foreign_keys', 1)
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: asKyselyDatabase(file) }) })
}

function expectPragma(file: SqliteFile, name: string, wanted: string | number): void {
  const row = file.query<Record<string, string | number>, []>(`PRAGMA ${name}`).get()
  if (row?.[name] !== wanted) throw new Error(`SQLite does not keep ${name} = ${wanted} on this file system`)
}

/** Gives Bun's SQLite the face that Kysely's dialect expects; statements are cached by their text. */
function asKyselyDatabase(file: SqliteFile): SqliteDatabase {
  return {
    close: () => file.close(),
    prepare: (text) => asKyselyStatement(file, text),
  }
}

function asKyselyStatement(file: SqliteFile, text: string): SqliteStatement {
  // A transaction that reads before it writes would fail when another process wrote in between, so every
  // transaction takes the write lock as it begins.
  const statement = file.query<unknown, SQLQueryBindings[]>(text === 'begin' ? 'begin immediate' : text)
  return {
    reader: statement.columnNames.length > 0,
    all: (parameters) => statement.all(...bindings(parameters)),
    run: (parameters) => statement.run(...bindings(parameters)),
    iterate: (parameters) => statement.iterate(...bindings(parameters)),
  }
}

function bindings(parameters: readonly unknown[]): SQLQueryBindings[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    throw new TypeError(`a ${typeof value} cannot be bound to a statement`)
  })
}

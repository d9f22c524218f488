import type { SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'
import type { CompiledQuery, Dialect, SqliteDatabase, SqliteStatement } from 'kysely'
import { Database, type StatementExecutor } from './database.ts'
import { DirectReads, SharedReads } from './direct-reads.ts'
import { KnownDamage } from './sqlite-damage.ts'
import { SqliteWriter } from './sqlite-driver.ts'
import { bindings, openFile, openForReading, openForScanning } from './sqlite-file.ts'
import { type LogLost, type LogSync, SqliteLog } from './sqlite-log.ts'
import { SqliteReaderThreads } from './sqlite-readers.ts'

const NORMAL = 1
const FULL = 2

/** Half of SQLite's default. A small upload changes a few bytes in each of 36 pages, and the log stores whole pages. */
const PAGE = 2048

/** Bytes of log before a checkpoint. The main thread copies pages, each once however many commits changed it. */
const CHECKPOINT_AFTER = 16 * 1024 * 1024

export interface SqliteBetween {
  readonly dialect: (own: Dialect) => Dialect
  readonly sync: LogSync
}

/**
 * Creates a missing file. Asserts write-ahead log, sync and foreign keys, on which durability through power cuts
 * depends.
 *
 * With `lost`, called when commits cannot become durable, one sync serves all waiting commits; only one process may
 * open the file so. Without it, each commit is synced before it is visible.
 */
export function openSqlite(path: string, lost?: LogLost, between?: SqliteBetween): Database {
  const file = openFile(path)
  const synchronous = lost === undefined ? FULL : NORMAL
  file.run(`PRAGMA page_size = ${PAGE}`)
  file.run('PRAGMA journal_mode = WAL')
  file.run(`PRAGMA synchronous = ${synchronous}`)
  file.run('PRAGMA foreign_keys = ON')
  file.run(`PRAGMA wal_autocheckpoint = ${Math.ceil(CHECKPOINT_AFTER / pageSize(file))}`)
  expectPragma(file, 'journal_mode', 'wal')
  expectPragma(file, 'synchronous', synchronous)
  expectPragma(file, 'foreign_keys', 1)
  const log = lost === undefined ? null : openLog(file, path, lost, between?.sync)
  const damage = new KnownDamage()
  const readers = {
    read: new SharedReads(openForReading(path), damage),
    scan: new DirectReads(openForScanning(path), damage),
    readPool: new SqliteReaderThreads(path, damage),
  }
  const { read, scan, readPool } = readers
  const close = async () => {
    await log?.close()
    readPool.close()
    scan.close()
    read.close()
    database.close()
    file.close()
  }
  const database = asKyselyDatabase(file, { reads: read, log, damage })
  const executor = executorOf(database)
  const writer = new SqliteWriter(database, log)
  const { dialect: seen } = between ?? { dialect: (own) => own }
  const dialect = seen(writer.dialect({ waits: true, close }))
  if (log === null) return new Database(dialect, readers, { executor, damage })
  const nonDurable = new Database(seen(writer.dialect({ waits: false })), readers, { executor })
  return new Database(dialect, readers, { nonDurable, executor, damage, durable: () => log.durable() })
}

function pageSize(file: SqliteFile): number {
  return file.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? PAGE
}

function openLog(file: SqliteFile, path: string, lost: LogLost, sync?: LogSync): SqliteLog {
  // The first read creates the log.
  file.query('select count(*) from sqlite_schema').get()
  return new SqliteLog(path, lost, sync)
}

function expectPragma(file: SqliteFile, name: string, wanted: string | number): void {
  const row = file.query<Record<string, string | number>, []>(`PRAGMA ${name}`).get()
  if (row?.[name] !== wanted) throw new Error(`SQLite does not keep ${name} = ${wanted} on this file system`)
}

interface Surroundings {
  readonly reads: SharedReads
  readonly log: SqliteLog | null
  readonly damage: KnownDamage
}

function asKyselyDatabase(file: SqliteFile, surroundings: Surroundings): SqliteDatabase {
  const statements = new Map<string, FinalizableStatement>()
  return {
    close() {
      // SQLite keeps the file open while statements exist.
      for (const statement of statements.values()) statement.finalize()
      statements.clear()
    },
    prepare(text) {
      let statement = statements.get(text)
      if (statement === undefined) {
        statement = asKyselyStatement(file, surroundings, text)
        if (statements.size < MOST_STATEMENTS) statements.set(text, statement)
      }
      return statement
    },
  }
}

function executorOf(database: SqliteDatabase): StatementExecutor {
  return <Row>({ sql, parameters }: CompiledQuery<Row>) => {
    const statement = database.prepare(sql)
    if (!statement.reader) return { rows: [], changed: Number(statement.run(parameters).changes) }
    // A statement does not know its rows' type.
    const rows = statement.all(parameters) as Row[]
    return { rows, changed: rows.length }
  }
}

/** Texts vary with the length of lists. */
const MOST_STATEMENTS = 500

interface FinalizableStatement extends SqliteStatement {
  finalize(): void
}

function asKyselyStatement(
  file: SqliteFile,
  { reads, log, damage }: Surroundings,
  text: string,
): FinalizableStatement {
  if (text === 'rollback') return rollback(file)
  // Takes the write lock at the beginning: a transaction that reads first would fail after another process's write.
  const statement = file.prepare<unknown, SQLQueryBindings[]>(text === 'begin' ? 'begin immediate' : text)
  const isSelect = /^\s*select\b/i.test(text)
  const running = <T>(run: () => T): T => {
    reads.refresh()
    try {
      return run()
    } catch (error) {
      throw damage.met(error)
    } finally {
      // A commit or autocommit. A failed one may have been applied.
      if (!isSelect && !file.inTransaction) log?.noteCommit()
    }
  }
  return {
    reader: statement.columnNames.length > 0,
    all: (parameters) => running(() => statement.all(...bindings(parameters))),
    run: (parameters) => running(() => statement.run(...bindings(parameters))),
    iterate: (parameters) => statement.iterate(...bindings(parameters)),
    finalize: () => statement.finalize(),
  }
}

/** SQLite rolls back a failed commit itself; another rollback would hide the original error. */
function rollback(file: SqliteFile): FinalizableStatement {
  const none = { changes: 0, lastInsertRowid: 0 }
  return {
    reader: false,
    all: () => [],
    run: () => (file.inTransaction ? file.run('rollback') : none),
    iterate: () => [][Symbol.iterator](),
    finalize() {},
  }
}

import type { SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'
import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  type Compilable,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely'
import {
  type CommittedReader,
  compiledQuery,
  Database,
  type Reader,
  type StatementExecutor,
} from './database.ts'
import { KnownDamage } from './sqlite-damage.ts'
import { bindings, openFile, openForReading, openForScanning } from './sqlite-file.ts'
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

/** The one writing connection, used by one transaction or statement at a time. */
class SqliteWriter {
  readonly log: SqliteLog | null
  readonly driver: SqliteDriver
  readonly #database: SqliteDatabase
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  constructor(database: SqliteDatabase, log: SqliteLog | null) {
    this.driver = new SqliteDriver({ database })
    this.#database = database
    this.log = log
  }

  dialect(options: SqliteWriterOptions): SqliteDialect {
    return new SqliteWriterDialect(this, this.#database, options)
  }

  async take(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#isTaken = true
    return this.driver.acquireConnection()
  }

  giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isTaken = false
    else next()
  }
}

interface SqliteWriterOptions {
  /** Whether an end waits until the transaction and all it may have read survive a power cut. */
  readonly waits: boolean
  readonly close?: () => Promise<void>
}

/** The next transaction begins after the previous commit, perhaps before its end. */
class SqliteWriterDialect extends SqliteDialect {
  readonly #writer: SqliteWriter
  readonly #database: SqliteDatabase
  readonly #options: SqliteWriterOptions

  constructor(writer: SqliteWriter, database: SqliteDatabase, options: SqliteWriterOptions) {
    super({ database })
    this.#writer = writer
    this.#database = database
    this.#options = options
  }

  override createDriver(): Driver {
    const { driver, log } = this.#writer
    const { waits, close } = this.#options
    // Kysely's driver would build queries.
    const run = async (text: string) => {
      this.#database.prepare(text).run([])
    }
    return {
      init: () => driver.init(),
      acquireConnection: () => this.#writer.take(),
      // A read-only transaction sees the state of its first query and lets others write.
      beginTransaction: (_, { accessMode }) => run(accessMode === 'read only' ? 'begin deferred' : 'begin'),
      commitTransaction: () => run('commit'),
      rollbackTransaction: () => run('rollback'),
      releaseConnection: async () => {
        this.#writer.giveBack()
        if (waits) await log?.durable()
      },
      destroy: async () => close?.(),
    }
  }

  override createAdapter(): SqliteAdapter {
    return new QueuelessAdapter()
  }
}

/** `SqliteWriter` has its own queue: Kysely's would block writes while a commit waits for the disk. */
class QueuelessAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

type Query<Row> = Compilable<Row> | CompiledQuery<Row>

/** Synchronous, committed rows only, no wait for transactions; a fraction of the cost of Kysely's driver. */
class DirectReads implements Reader {
  readonly gathersLookups = false
  readonly #file: SqliteFile
  readonly #damage: KnownDamage

  constructor(file: SqliteFile, damage: KnownDamage) {
    this.#file = file
    this.#damage = damage
  }

  async rows<Row>(query: Query<Row>): Promise<Row[]> {
    return answer(this.#file, this.#damage, query)
  }

  close(): void {
    this.#file.close()
  }
}

/**
 * A snapshot from the first read of an event loop turn, or after `refresh`. All reads of a turn, of all requests, share
 * a transaction: beginning and ending one costs SQLite three times as much as finding a row.
 */
class SharedReads implements CommittedReader {
  readonly gathersLookups = false
  readonly #file: SqliteFile
  readonly #damage: KnownDamage
  readonly #begin
  readonly #commit
  readonly #dataVersion
  #isOpen = false
  #version: number | null = null

  constructor(file: SqliteFile, damage: KnownDamage) {
    this.#file = file
    this.#damage = damage
    this.#begin = file.prepare('begin')
    this.#commit = file.prepare('commit')
    this.#dataVersion = file.query<{ data_version: number }, []>('PRAGMA data_version')
  }

  async rows<Row>(query: Query<Row>): Promise<Row[]> {
    this.#open()
    return answer(this.#file, this.#damage, query)
  }

  version(): number {
    this.#open()
    this.#version ??= this.#dataVersion.get()?.data_version ?? 0
    return this.#version
  }

  /** Discards the snapshot. Every writer on this thread must call it. */
  refresh(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#version = null
    // A failed disk read has ended the transaction already.
    if (!this.#file.inTransaction) return
    try {
      this.#commit.run()
    } catch (error) {
      // The commit reports a damaged page again. It has nothing to write.
      this.#damage.met(error)
      if (this.#file.inTransaction) this.#file.run('rollback')
    }
  }

  close(): void {
    this.refresh()
    for (const statement of [this.#begin, this.#commit, this.#dataVersion]) statement.finalize()
    this.#file.close()
  }

  #open(): void {
    if (this.#isOpen) return
    if (!this.#file.inTransaction) this.#begin.run()
    this.#isOpen = true
    setImmediate(() => this.refresh())
  }
}

function answer<Row>(file: SqliteFile, damage: KnownDamage, query: Query<Row>): Row[] {
  const { sql, parameters } = compiledQuery(query)
  try {
    return file.query<Row, SQLQueryBindings[]>(sql).all(...bindings(parameters))
  } catch (error) {
    throw damage.met(error)
  }
}

/** Must not return: there are commits that cannot become durable. */
export type LogLost = (error: unknown) => never

export type LogSync = (descriptor: number, done: (error?: Error | null) => void) => void

/**
 * Write-ahead log under `synchronous = NORMAL`: commits are written, not synced. One sync, on a pool thread of the
 * runtime, makes all earlier commits durable.
 *
 * A failed sync is final: the kernel may have dropped the pages, and another sync would succeed.
 */
export class SqliteLog {
  readonly #descriptor: number
  readonly #lost: LogLost
  readonly #datasync: LogSync
  #committed = 0
  #synced = 0
  #isSyncing = false
  readonly #waiting: { readonly commits: number; readonly resolve: () => void }[] = []

  /** A connection must stay open until `close`: the last one to close removes the file. */
  constructor(database: string, lost: LogLost, datasync: LogSync = (...given) => fdatasync(...given)) {
    const path = `${database}-wal`
    this.#descriptor = openSync(path, 'r+')
    this.#lost = lost
    this.#datasync = datasync
    if (fstatSync(this.#descriptor).ino !== statSync(path).ino) throw new Error(`${path} was replaced`)
    // Another process may have created the file, and died before its name was durable.
    const folder = openSync(dirname(path), 'r')
    try {
      fsyncSync(this.#descriptor)
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  }

  noteCommit(): void {
    this.#committed += 1
  }

  /** Resolves once all recorded commits survive a power cut; null if they do. */
  durable(): Promise<void> | null {
    if (this.#synced === this.#committed) return null
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ commits: this.#committed, resolve })
    this.#sync()
    return promise
  }

  async close(): Promise<void> {
    await this.durable()
    closeSync(this.#descriptor)
  }

  #sync(): void {
    if (this.#isSyncing) return
    this.#isSyncing = true
    const commits = this.#committed
    this.#datasync(this.#descriptor, (error) => {
      if (error !== null && error !== undefined) this.#lost(error)
      this.#isSyncing = false
      this.#synced = commits
      while (this.#waiting[0] !== undefined && this.#waiting[0].commits <= commits) {
        this.#waiting.shift()?.resolve()
      }
      if (this.#waiting.length > 0) this.#sync()
    })
  }
}

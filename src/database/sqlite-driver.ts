import {
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely'
import type { SqliteLog } from './sqlite-log.ts'

/** The one writing connection, used by one transaction or statement at a time. */
export class SqliteWriter {
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

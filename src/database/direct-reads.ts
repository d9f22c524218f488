import type { SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'

/**
 * Answers a query at once, on a connection that only reads: it sees what is committed, waits for no transaction
 * under way, and costs a fraction of what the way through Kysely's driver does.
 */
export interface DirectReads {
  all<Row>(text: string, parameters: readonly SQLQueryBindings[]): Row[]
  /** Another number whenever anything was committed since it was asked last. */
  version(): number
}

export function directReads(file: SqliteFile): DirectReads {
  const version = file.query<{ data_version: number }, []>('PRAGMA data_version')
  return {
    all<Row>(text: string, parameters: readonly SQLQueryBindings[]): Row[] {
      return file.query<Row, SQLQueryBindings[]>(text).all(...parameters)
    },
    version: () => version.get()?.data_version ?? 0,
  }
}

/** Reads that see what was committed when the present turn of the event loop began, or the last `refresh` was. */
export interface SharedReads extends DirectReads {
  /** To be called by whoever changes the database from this thread. */
  refresh(): void
}

/**
 * All reads of one turn of the event loop, of however many requests, are one transaction: to begin and to end one takes
 * SQLite three times as long as to find a row.
 */
export function sharedReads(file: SqliteFile): SharedReads {
  const reads = directReads(file)
  const begin = file.prepare('begin')
  const commit = file.prepare('commit')
  let isOpen = false
  /** Of the transaction that is open; it cannot change while that is. */
  let version: number | null = null

  function refresh(): void {
    if (isOpen) commit.run()
    isOpen = false
    version = null
  }

  function open(): void {
    if (isOpen) return
    begin.run()
    isOpen = true
    setImmediate(refresh)
  }

  return {
    all(text, parameters) {
      open()
      return reads.all(text, parameters)
    },
    version() {
      open()
      version ??= reads.version()
      return version
    },
    refresh,
  }
}

import type { SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'
import type { Compilable, CompiledQuery } from 'kysely'
import { type CommittedReader, compiledQuery, type Reader } from './database.ts'
import type { KnownDamage } from './sqlite-damage.ts'
import { bindings } from './sqlite-file.ts'

type Query<Row> = Compilable<Row> | CompiledQuery<Row>

/** Synchronous, committed rows only, no wait for transactions; a fraction of the cost of Kysely's driver. */
export class DirectReads implements Reader {
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
export class SharedReads implements CommittedReader {
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

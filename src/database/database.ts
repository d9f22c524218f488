import {
  type Compilable,
  type CompiledQuery,
  type Dialect,
  Kysely,
  PostgresAdapter,
  type Transaction,
} from 'kysely'
import type { AccountId } from '../domain/ids.ts'
import type { Tables } from './schema.ts'
import type { KnownDamage } from './sqlite-damage.ts'

export interface Reader {
  /** Whether one query for concurrent look-ups is cheaper: where queries are round trips. */
  readonly gathersLookups: boolean
  rows<Row>(query: Compilable<Row> | CompiledQuery<Row>): Promise<Row[]>
}

export interface CommittedReader extends Reader {
  /** Changes with every commit of any process; null when unknown. */
  version(): number | null
}

export interface Readers {
  /** Synchronous; waits for no transaction. */
  readonly read: CommittedReader
  /** For many queries in one pass over a large table: spares the page cache. */
  readonly scan: Reader
  /** For queries that may scan a large table: SQLite runs them on other threads, off the event loop. */
  readonly readPool: Reader
}

/** Executes immediately, in the current transaction. */
export type StatementExecutor = <Row>(query: CompiledQuery<Row>) => {
  readonly rows: Row[]
  readonly changed: number
}

/**
 * One transaction sent at once: the statements of `before`, whose rows are ignored, then those of `wanted`. Each sees
 * what was committed before it began, including while it waited for a lock. All or none; retried as a whole after a
 * conflict. Throws the first failure; after `sent`, a lost connection leaves the outcome unknown.
 */
export type StatementPipeline = <Row>(
  before: readonly CompiledQuery[],
  wanted: readonly CompiledQuery<Row>[],
  sent: () => void,
) => Promise<Row[][]>

type DatabaseOptions = Partial<Pick<Database, 'nonDurable' | 'durable' | 'executor' | 'pipeline' | 'damage'>>

/** Kysely's methods use the writing connection or the pool; `read`, `scan` and `readPool` see committed rows. */
export class Database extends Kysely<Tables> implements Readers {
  readonly read: CommittedReader
  readonly scan: Reader
  readonly readPool: Reader
  /** On SQLite, transactions here end before they survive a power cut. PostgreSQL: the database itself. */
  readonly nonDurable: Database
  /** Resolves once commits survive a power cut; null if they do. Answers that promise what was read must await it. */
  readonly durable: () => Promise<void> | null
  /** SQLite only, for statements of its single transaction: faster than through Kysely. */
  readonly executor: StatementExecutor | null
  /** PostgreSQL only, for transactions whose statements do not depend on each other's rows. */
  readonly pipeline: StatementPipeline | null
  /** Damage met by queries. SQLite only; PostgreSQL has its own log. */
  readonly damage: KnownDamage | null

  constructor(dialect: Dialect, readers?: Readers, options: DatabaseOptions = {}) {
    super({ dialect })
    this.nonDurable = options.nonDurable ?? this
    this.durable = options.durable ?? (() => null)
    this.executor = options.executor ?? null
    this.pipeline = options.pipeline ?? null
    this.damage = options.damage ?? null
    const own = { ...readerThrough(this), version: () => null }
    this.read = readers?.read ?? own
    this.scan = readers?.scan ?? own
    this.readPool = readers?.readPool ?? own
  }
}

/** Identifies a PostgreSQL transaction, to query its outcome when the commit's answer is lost. */
export interface TransactionOutcome {
  readonly id: string
  /** In seconds by the database's clock. */
  readonly began: number
}

/** A transaction started by `inTransaction`. */
export type Trx = Transaction<Tables> & {
  readonly read: Reader
  outcome: TransactionOutcome | null
  readonly locked: Set<AccountId>
  readonly atOnce: StatementExecutor | null
}

/** A database, or a transaction whose own changes must be visible. */
export type Queryable = Database | Trx

export function asTrx(transaction: Transaction<Tables>, atOnce: StatementExecutor | null): Trx {
  return Object.assign(transaction, {
    read: atOnce === null ? readerThrough(transaction) : readerAtOnce(atOnce),
    atOnce,
    outcome: null,
    locked: new Set<AccountId>(),
  })
}

function readerThrough(db: Kysely<Tables>): Reader {
  return {
    gathersLookups: false,
    async rows(query) {
      return (await db.executeQuery(query)).rows
    },
  }
}

function readerAtOnce(execute: StatementExecutor): Reader {
  return {
    gathersLookups: false,
    async rows(query) {
      return execute(compiledQuery(query)).rows
    },
  }
}

/** Index entries skipped within milliseconds; queries that skip or count more belong on `readPool`. */
export const MOST_SKIPPED = 100_000

export function compiledQuery<Row>(query: Compilable<Row> | CompiledQuery<Row>): CompiledQuery<Row> {
  return 'compile' in query ? query.compile() : query
}

export function isPostgres(db: Queryable): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

import { type Compilable, type CompiledQuery, type Dialect, Kysely, type Transaction } from 'kysely'
import type { AccountId } from '../domain/ids.ts'
import type { Tables } from './schema.ts'
import type { KnownDamage } from './sqlite-damage.ts'

/** A source of answers to read-only queries. */
export interface Reader {
  /** Whether look-ups that come at once are cheaper in one query: where a query is a round trip. */
  readonly gathersLookups: boolean
  rows<Row>(query: Compilable<Row> | CompiledQuery<Row>): Promise<Row[]>
}

/** A reader of committed rows that notices commits. */
export interface CommittedReader extends Reader {
  /**
   * Changes whenever anything was committed, by this process or another; null when the database cannot tell.
   */
  version(): number | null
}

/** Readers of committed rows. On PostgreSQL all of them are the pool of connections. */
export interface Readers {
  /** Answers immediately, on a connection that waits for no transaction. */
  readonly read: CommittedReader
  /** For many queries in one pass over a large table: does not evict the page cache. */
  readonly scan: Reader
  /**
   * For queries that may scan a large table: SQLite runs them on other threads, so that the event loop is not
   * blocked.
   */
  readonly readPool: Reader
}

/** Executes a statement immediately, as part of the transaction that is under way. */
export type StatementExecutor = <Row>(query: CompiledQuery<Row>) => {
  readonly rows: Row[]
  /** Number of changed rows, or of returned ones. */
  readonly changed: number
}

/**
 * Runs the statements as one transaction that is sent at once and waited for once: first those of `before`, whose rows are
 * ignored, then those of `wanted`. Each sees what was committed before it began, so also what a lock was waited for. All
 * are carried out or none, and one that loses a conflict is run again with all others. Throws what the first that failed
 * threw; once `sent` was called, nobody knows after a failure of the connection whether they were carried out.
 */
export type StatementPipeline = <Row>(
  before: readonly CompiledQuery[],
  wanted: readonly CompiledQuery<Row>[],
  sent: () => void,
) => Promise<Row[][]>

/** What only some databases have. */
type DatabaseOptions = Partial<Pick<Database, 'nonDurable' | 'durable' | 'executor' | 'pipeline' | 'damage'>>

/**
 * An open database. Kysely's methods use its connection for writing or its pool; `read`, `scan` and `readPool`
 * see committed rows.
 */
export class Database extends Kysely<Tables> implements Readers {
  readonly read: CommittedReader
  readonly scan: Reader
  readonly readPool: Reader
  /**
   * The same database for changes that promise nothing by themselves: on SQLite they end before they would
   * survive a power cut. PostgreSQL has no such thing: it is the database itself.
   */
  readonly nonDurable: Database
  /**
   * Resolves once all that this process has committed would survive a power cut; null when it already would.
   * What was read may be promised to somebody only after that.
   */
  readonly durable: () => Promise<void> | null
  /**
   * For statements of a transaction: SQLite has one at a time and answers immediately, so the way through Kysely would
   * take longer than most of them. Null on PostgreSQL.
   */
  readonly executor: StatementExecutor | null
  /** For transactions whose statements do not depend on each other's rows. Null on SQLite, which has no round trips. */
  readonly pipeline: StatementPipeline | null
  /** What queries have met of damage in the file. Null on PostgreSQL, whose own log has that. */
  readonly damage: KnownDamage | null

  /** Without readers, all queries use the dialect's own connections. */
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

/**
 * Identifies a PostgreSQL transaction, so that its outcome can be queried when the answer to the commit is
 * lost.
 */
export interface TransactionOutcome {
  /** Id of the row that the transaction has inserted. */
  readonly id: string
  /** Start of the transaction in seconds, by the database's clock. */
  readonly began: number
}

/** A transaction started by `inTransaction`. */
export type Trx = Transaction<Tables> & {
  /** Reads that include the transaction's own changes. */
  readonly read: Reader
  /** Null until the transaction has inserted its outcome row. */
  outcome: TransactionOutcome | null
  /** Accounts that the transaction has locked. */
  readonly locked: Set<AccountId>
  /** See `Database.executor`. */
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

/**
 * Index entries that can be skipped within a few milliseconds; queries that skip or count more belong on
 * `readPool`.
 */
export const MOST_SKIPPED = 100_000

/** The query in the compiled form that a connection executes. */
export function compiledQuery<Row>(query: Compilable<Row> | CompiledQuery<Row>): CompiledQuery<Row> {
  return 'compile' in query ? query.compile() : query
}

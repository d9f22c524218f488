import {
  type Compilable,
  type CompiledQuery,
  type Dialect,
  Kysely,
  PostgresAdapter,
  type QueryResult,
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

export interface StatementResult<Row> {
  readonly rows: Row[]
  readonly changed: number
}

/** Executes immediately, in the current transaction. */
export type StatementExecutor = <Row>(query: CompiledQuery<Row>) => StatementResult<Row>

type DatabaseOptions = Partial<Pick<Database, 'nonDurable' | 'durable' | 'executor' | 'damage'>>

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
  /** Damage met by queries. SQLite only; PostgreSQL has its own log. */
  readonly damage: KnownDamage | null

  constructor(dialect: Dialect, readers?: Readers, options: DatabaseOptions = {}) {
    super({ dialect })
    this.nonDurable = options.nonDurable ?? this
    this.durable = options.durable ?? (() => null)
    this.executor = options.executor ?? null
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
  /** Sends the statement without waiting for those before it: they are executed in the order in which they were sent. */
  send<Row>(query: CompiledQuery<Row>): Promise<StatementResult<Row>>
}

/** A database, or a transaction whose own changes must be visible. */
export type Queryable = Database | Trx

/** `execute`: SQLite only. */
export async function asTrx(
  transaction: Transaction<Tables>,
  execute: StatementExecutor | null,
): Promise<Trx> {
  // Kysely itself sends a statement only after the answer to the one before.
  const connection = await transaction.getExecutor().provideConnection(async (own) => own)
  const send: Trx['send'] = async (query) =>
    execute === null ? resultOf(await connection.executeQuery(query)) : execute(query)
  const read: Reader = {
    gathersLookups: false,
    rows: async (query) => (await send(compiledQuery(query))).rows,
  }
  return Object.assign(transaction, { read, send, outcome: null, locked: new Set<AccountId>() })
}

/** SQLite reports no count for `returning`. */
export function resultOf<Row>({ rows, numAffectedRows }: QueryResult<Row>): StatementResult<Row> {
  return { rows, changed: Number(numAffectedRows ?? rows.length) }
}

function readerThrough(db: Kysely<Tables>): Reader {
  return {
    gathersLookups: false,
    async rows(query) {
      return (await db.executeQuery(query)).rows
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

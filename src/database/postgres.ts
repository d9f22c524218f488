import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import { Pool, types } from 'pg'
import { endsWithin } from '../domain/abort.ts'
import { isConflict, isDatabaseFailure } from './differences.ts'
import type { Db, Tables } from './schema.ts'

/**
 * Pages of an index are not dear to come by, in memory or on flash: what an index answers alone is asked of it. Several
 * processes that look for hits hand them over for less than is believed. And our statements are over before a compiler
 * would have started.
 */
const PLANNING = '-c random_page_cost=1.1 -c parallel_tuple_cost=0.02 -c jit=off'

/** Milliseconds a statement, a lock or a new connection may take before the database counts as away. */
const STATEMENT_MAY_TAKE = 30_000
const LOCK_MAY_TAKE = 10_000
const CONNECTING_MAY_TAKE = 5_000
/** A node that stands still in the middle of a transaction must not hold the others up. */
const TRANSACTION_MAY_IDLE = 15_000
/** Closing waits so many milliseconds for connections in use. One whose end is never heard of ends with the process. */
const CLOSING_MAY_TAKE = 5_000

const LIMITS = {
  query_timeout: STATEMENT_MAY_TAKE + CONNECTING_MAY_TAKE,
  statement_timeout: STATEMENT_MAY_TAKE,
  lock_timeout: LOCK_MAY_TAKE,
}

export interface PostgresOptions {
  /** Connections at most. */
  readonly connections: number
  /**
   * Whether a commit waits for the disk. Off for counters and rate windows, which may lose a moment and must not
   * hold up a request.
   */
  readonly durable: boolean
  /** Whether statements and locks may take as long as they need: for migrations. */
  readonly isPatient?: boolean
  /** Told of connections that break while nobody uses them. */
  readonly report: (error: unknown) => void
}

/** The database at that address. Nothing is asked of it yet: what is wrong shows with the first query. */
export function openPostgres(url: string, options: PostgresOptions): Db {
  const pool = new Pool({
    connectionString: url,
    max: options.connections,
    connectionTimeoutMillis: CONNECTING_MAY_TAKE,
    ...(options.isPatient ? {} : LIMITS),
    idle_in_transaction_session_timeout: TRANSACTION_MAY_IDLE,
    keepAlive: true,
    application_name: 'holdfast',
    options: `-c synchronous_commit=${options.durable ? 'on' : 'off'} ${PLANNING}`,
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? wholeNumber : types.getTypeParser(oid, format),
    },
  })
  pool.on('error', options.report)
  // The pool listens to connections that nobody uses. Of one that breaks in use its query tells, and an error that
  // nobody listens to would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: healing(pool) }) })
  pools.set(db, pool)
  return db
}

const pools = new WeakMap<Db, Pool>()

/** The connections of a pool at this moment. */
export interface PoolUse {
  readonly busy: number
  readonly idle: number
  /** Queries and transactions that wait for a connection. */
  readonly waiting: number
  readonly most: number
}

/** Of a database that `openPostgres` has opened. */
export function poolUse(db: Db): PoolUse {
  const pool = pools.get(db)
  if (pool === undefined) throw new Error('this database has no pool of connections')
  const { totalCount, idleCount, waitingCount, options } = pool
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount, most: options.max }
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is more than can be counted exactly`)
  return value
}

/** Lets go of every connection on which the database has failed, so that the pool heals by itself. */
function healing(pool: PostgresPool): PostgresPool {
  return {
    options: pool.options,
    connect: async () => watched(await pool.connect()),
    async end() {
      await endsWithin(CLOSING_MAY_TAKE, pool.end())
    },
  }
}

function watched(client: PostgresPoolClient): PostgresPoolClient {
  let isBroken = false

  function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query<R>(query: string | PostgresCursor<R>, parameters: readonly unknown[] = []) {
    if (typeof query !== 'string') return client.query(query)
    return client.query<R>(query, parameters).catch((error: unknown) => {
      isBroken ||= isDatabaseFailure(error) && !isConflict(error)
      throw error
    })
  }

  return { query, release: () => client.release(isBroken) }
}

import { PostgresDialect, sql } from 'kysely'
import { Client, type ClientConfig, DatabaseError, Pool, types } from 'pg'
import { unlessAborted } from '../domain/abort.ts'
import { systemTimers, type Timers } from '../domain/clock.ts'
import { SilenceWatch } from '../domain/silence.ts'
import { Database } from './database.ts'
import { DatabaseSilent } from './differences.ts'
import { StatementNames } from './named-statements.ts'
import {
  directPoolReads,
  GrowingPool,
  kyselyPool,
  type PooledClient,
  postgresConnection,
} from './postgres-connections.ts'

/**
 * Index pages are in memory or on flash, so index scans are preferred; parallel workers' rows cost less than the
 * default assumes; statements end before JIT pays off.
 */
const PLANNING = '-c random_page_cost=1.1 -c parallel_tuple_cost=0.02 -c jit=off'

/**
 * Overrides defaults of server, database and role. Not `search_path` and `default_transaction_read_only`, with which
 * operators choose a schema and keep writers out.
 */
const SESSION = [
  'default_transaction_isolation=read\\ committed',
  'default_transaction_deferrable=off',
  'standard_conforming_strings=on',
  'transform_null_equals=off',
  'array_nulls=on',
  'bytea_output=hex',
  'extra_float_digits=1',
  'TimeZone=UTC',
  'DateStyle=ISO,YMD',
  'IntervalStyle=postgres',
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/** Migrations take any time, also for roles with limits. */
const PATIENCE = ' -c statement_timeout=0 -c lock_timeout=0'

/** Milliseconds, after which the database counts as unavailable. */
const STATEMENT_MAY_TAKE = 30_000
const LOCK_MAY_TAKE = 10_000
const CONNECTING_MAY_TAKE = 5_000
/** Milliseconds. A new connection costs some twenty queries; firewalls drop silent ones after four minutes or more. */
const CONNECTION_MAY_IDLE = 180_000
/** Milliseconds, so that a stalled node's locks do not block others. */
const TRANSACTION_MAY_IDLE = 15_000

const LIMITS = {
  query_timeout: STATEMENT_MAY_TAKE + CONNECTING_MAY_TAKE,
  statement_timeout: STATEMENT_MAY_TAKE,
  lock_timeout: LOCK_MAY_TAKE,
}

export interface PostgresOptions {
  readonly connections: number
  /** Off for counters and rate windows, which may lose the last moment and must not delay a request. */
  readonly durable: boolean
  /** No time limits for statements, locks and a stalled server: for migrations. */
  readonly isPatient?: boolean
  readonly preparesStatements?: boolean
  /** Search path, in whose first schema tables are made; default: the server's. */
  readonly schemas?: readonly string[]
  readonly timers?: Timers
  readonly report: (error: unknown) => void
}

/** Connects with the first query, so a wrong address shows only then. */
export function openPostgres(url: string, options: PostgresOptions): PostgresDatabase {
  const server = postgresConnection(url)
  const pool = new Pool({
    ...server,
    max: options.connections,
    connectionTimeoutMillis: CONNECTING_MAY_TAKE,
    idleTimeoutMillis: CONNECTION_MAY_IDLE,
    ...(options.isPatient ? {} : LIMITS),
    idle_in_transaction_session_timeout: TRANSACTION_MAY_IDLE,
    keepAlive: true,
    pipeline: true,
    application_name: 'holdfast',
    client_encoding: 'UTF8',
    options: `-c synchronous_commit=${options.durable ? 'on' : 'off'} ${PLANNING} ${SESSION}${options.isPatient ? PATIENCE : ''}${searchPath(options)}`,
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? wholeNumber : types.getTypeParser(oid, format),
    },
  })
  pool.on('error', options.report)
  // One in use reports through its query, but an `error` event without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const names = new StatementNames(options.preparesStatements ?? true)
  const timers = options.timers ?? systemTimers
  const growing: GrowingPool<PooledClient> = new GrowingPool<PooledClient>(
    pool,
    timers,
    options.isPatient === true
      ? null
      : silenceOf(server, (error) => {
          growing.retireAll()
          options.report(error)
        }),
  )
  return new PostgresDatabase(pool, growing, names)
}

function silenceOf(server: ClientConfig, wentSilent: (error: Error) => void): SilenceWatch {
  return new SilenceWatch({
    ping: (signal) => ping(server, signal),
    failure: () => new DatabaseSilent(),
    wentSilent: () => wentSilent(new DatabaseSilent()),
    timers: systemTimers,
  })
}

/** Resolves for any answer, also a refusal; rejects on abort. */
async function ping(server: ClientConfig, signal: AbortSignal): Promise<void> {
  const client = new Client({ ...server, application_name: 'holdfast' })
  // Reported by the pending operation.
  client.on('error', () => {})
  const close = () => client.connection.stream.destroy()
  signal.addEventListener('abort', close)
  try {
    await unlessAborted(
      signal,
      client.connect().then(() => client.query('select 1')),
    )
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

function searchPath({ schemas }: PostgresOptions): string {
  if (schemas === undefined) return ''
  const path = schemas.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')
  return ` -c search_path=${path.replaceAll(/[\\\s]/g, '\\$&')}`
}

export class PostgresDatabase extends Database {
  readonly #pool: Pool
  readonly #growing: GrowingPool<PooledClient>

  constructor(pool: Pool, growing: GrowingPool<PooledClient>, names: StatementNames) {
    const read = directPoolReads(growing, names)
    super(new PostgresDialect({ pool: kyselyPool(growing, names) }), { read, scan: read, readPool: read })
    this.#pool = pool
    this.#growing = growing
  }

  poolUse(): PoolUse {
    const { totalCount, idleCount, options } = this.#pool
    const busy = totalCount - idleCount
    return { busy, idle: idleCount, waiting: this.#growing.waitingCount, most: options.max }
  }
}

export interface PoolUse {
  readonly busy: number
  readonly idle: number
  readonly waiting: number
  readonly most: number
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is more than can be counted exactly`)
  return value
}

/** Since 13 `pg_trgm` is a trusted extension. */
const NEEDED = 13

export class PostgresTooOld extends Error {
  override readonly name = 'PostgresTooOld'

  constructor(found: string) {
    super(
      `PostgreSQL ${found} is too old: Holdfast needs ${NEEDED} or newer. Upgrade that server, or let HOLDFAST_DATABASE_URL name a newer one.`,
    )
  }
}

export async function assertRecentPostgres(db: Database): Promise<void> {
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::integer as version`.execute(db)
  const version = rows[0]?.version ?? 0
  const major = Math.floor(version / 10_000)
  if (major >= NEEDED) return
  // Before 10 the major version had two numbers.
  const minor = major >= 10 ? `${version % 10_000}` : `${Math.floor(version / 100) % 100}.${version % 100}`
  throw new PostgresTooOld(`${major}.${minor}`)
}

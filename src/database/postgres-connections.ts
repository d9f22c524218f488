import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { endsWithin } from '../domain/abort.ts'
import { postgresUrl, socketFolder } from '../domain/addresses.ts'
import type { CancelTimer, Timers } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { SilenceWatch } from '../domain/silence.ts'
import { type CommittedReader, compiledQuery } from './database.ts'
import { DatabaseSilent, isConflict, isDatabaseFailure, isReadOnlyServer } from './differences.ts'
import type { StatementNames } from './named-statements.ts'

/** Milliseconds; connections still in use then end with the process. */
const CLOSING_MAY_TAKE = 5_000

interface ClientPool {
  readonly options: object
  connect(): Promise<PooledClient>
  end(): Promise<void>
  retireAll(): void
  isRetired(client: PooledClient): boolean
  readonly silence: SilenceWatch | null
}

export interface PooledClient {
  readonly connection: { readonly stream: { cork(): void; uncork(): void; destroy(): void } }
  query<R>(query: NamedQuery): Promise<PostgresQueryResult<R>>
  release(isBroken: boolean): void
}

interface NamedQuery {
  readonly text: string
  readonly values: unknown[]
  readonly name?: string
}

/** Kysely's `begin` with the level that transactions expect, also behind a pooler that drops session settings. */
const BEGIN = 'begin isolation level read committed'

export function kyselyPool(pool: ClientPool, names: StatementNames): PostgresPool {
  return {
    options: pool.options,
    connect: async () => new Connection(await pool.connect(), pool, names),
    async end() {
      await endsWithin(CLOSING_MAY_TAKE, pool.end())
    },
  }
}

/** Kysely's driver would cost as much as a small query. */
export function directPoolReads(pool: ClientPool, names: StatementNames): CommittedReader {
  return {
    gathersLookups: true,
    async rows<Row>(query: Parameters<typeof compiledQuery<Row>>[0]) {
      const { sql, parameters } = compiledQuery(query)
      const connection = new Connection(await pool.connect(), pool, names)
      try {
        return (await connection.query<Row>(sql, parameters)).rows
      } finally {
        connection.release()
      }
    },
    version: () => null,
  }
}

/** After a failure of the database the connection is discarded, so that the pool recovers. */
class Connection implements PostgresPoolClient {
  readonly #client: PooledClient
  readonly #pool: ClientPool
  readonly #names: StatementNames
  #isBroken = false
  #isInTransaction = false
  #begun: Promise<unknown> | null = null

  constructor(client: PooledClient, pool: ClientPool, names: StatementNames) {
    this.#client = client
    this.#pool = pool
    this.#names = names
  }

  query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    query: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof query !== 'string') throw new Error('cursors are not used')
    if (query === 'begin') return this.#begin<R>()
    if (query === 'commit' || query === 'rollback') this.#isInTransaction = false
    return this.#run<R>(query, parameters)
  }

  /** Sent with the first statement, which fails if this fails. */
  async #begin<R>(): Promise<PostgresQueryResult<R>> {
    this.#isInTransaction = true
    this.#client.connection.stream.cork()
    this.#begun = this.#client.query({ text: BEGIN, values: [] })
    // The first statement reports the failure.
    this.#begun.catch(() => {})
    return { command: 'SELECT', rowCount: 0, rows: [] }
  }

  async #run<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const name = this.#names.of(text)
    const values = [...parameters]
    const isInTransaction = this.#isInTransaction
    try {
      return await this.#sent<R>(name === undefined ? { text, values } : { name, text, values })
    } catch (error) {
      // A transaction fails as a whole; `inTransaction` retries it.
      if (this.#names.learn(error, text, name) && !isInTransaction) return this.#run(text, parameters)
      this.#isBroken ||= isDatabaseFailure(error) && !isConflict(error)
      // Closing would wait for pending answers.
      if (error instanceof DatabaseSilent) this.#client.connection.stream.destroy()
      // The server is no longer primary; new connections lead to the one that is.
      if (isReadOnlyServer(error)) this.#pool.retireAll()
      throw error
    }
  }

  async #sent<R>(query: NamedQuery): Promise<PostgresQueryResult<R>> {
    const begun = this.#begun
    if (begun === null) return await this.#watched(() => this.#client.query<R>(query))
    this.#begun = null
    const sent = this.#watched(() => this.#client.query<R>(query))
    this.#client.connection.stream.uncork()
    const [answer] = await Promise.all([sent, begun])
    return answer
  }

  #watched<R>(query: () => Promise<R>): Promise<R> {
    return this.#pool.silence?.run(query) ?? query()
  }

  release(): void {
    this.#client.release(this.#isBroken || this.#pool.isRetired(this.#client))
  }
}

/** TLS of PostgreSQL connections, with libpq's meaning of `sslmode`. */
const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const

interface PostgresConnection {
  readonly connectionString: string
  readonly ssl: false | ConnectionOptions
}

/** Throws Refusal PRECONDITION_FAILED for an unreadable file. */
export function postgresConnection(text: string): PostgresConnection {
  const url = postgresUrl(text)
  // Only tests pass what no setting would.
  if (url === null) return { connectionString: text, ssl: false }
  const mode = url.searchParams.get('sslmode')
  const files: ConnectionOptions = {}
  for (const [name, option] of Object.entries(FILES)) {
    const path = url.searchParams.get(name)
    if (path !== null) files[option] = readNamed(name, path)
    url.searchParams.delete(name)
  }
  url.searchParams.delete('sslmode')
  const ssl = mode === null || mode === 'disable' || socketFolder(url) !== null ? false : tls(mode, files)
  return { connectionString: url.href, ssl }
}

function tls(mode: string, files: ConnectionOptions): ConnectionOptions {
  if (mode === 'verify-full') return files
  // Like libpq: "require" with an authority checks it.
  if (mode === 'verify-ca' || files.ca !== undefined)
    return { ...files, checkServerIdentity: () => undefined }
  return { ...files, rejectUnauthorized: false }
}

function readNamed(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Refusal(
      'PRECONDITION_FAILED',
      `the file that ${name} in HOLDFAST_DATABASE_URL names cannot be read: ${reason}`,
    )
  }
}

interface OpeningPool<Client> {
  readonly options: { readonly max: number }
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  connect(): Promise<Client>
  end(): Promise<void>
  on(event: 'release', listener: () => void): unknown
  on(event: 'connect', listener: (client: Client) => void): unknown
}

interface Releasable {
  release(isBroken: boolean): void
}

/** Milliseconds of waiting. A new session costs PostgreSQL some twenty queries, and prepares every statement anew. */
const GROWS_AFTER = 50

type Resolve<Client> = (client: Promise<Client>) => void

/** Opens connections one by one when needed: the pool of `pg` opens one for each request of a burst. */
export class GrowingPool<Client extends Releasable> {
  readonly #pool: OpeningPool<Client>
  readonly #timers: Timers
  readonly #waiting: Resolve<Client>[] = []
  #taken = 0
  /** Retirement round in which each connection was opened. */
  readonly #openedIn = new WeakMap<Releasable, number>()
  #retirements = 0
  #growth: CancelTimer | null = null

  readonly silence: SilenceWatch | null

  constructor(pool: OpeningPool<Client>, timers: Timers, silence: SilenceWatch | null = null) {
    this.silence = silence
    this.#pool = pool
    this.#timers = timers
    pool.on('connect', (client) => this.#openedIn.set(client, this.#retirements))
    // The connection is idle or gone once the listeners have returned.
    pool.on('release', () => queueMicrotask(() => this.#serve()))
  }

  get options(): object {
    return this.#pool.options
  }

  get waitingCount(): number {
    return this.#pool.waitingCount + this.#waiting.length
  }

  connect(): Promise<Client> {
    return (
      this.silence?.run(
        () => this.#connect(),
        (client) => client.release(true),
      ) ?? this.#connect()
    )
  }

  #connect(): Promise<Client> {
    if (this.#waiting.length === 0 && this.#isReady()) return this.#take()
    const { promise, resolve } = Promise.withResolvers<Client>()
    this.#waiting.push(resolve)
    this.#growth ??= this.#growSoon()
    return promise
  }

  retireAll(): void {
    this.#retirements++
  }

  isRetired(client: Client): boolean {
    return (this.#openedIn.get(client) ?? 0) !== this.#retirements
  }

  /** Resolves when all connections are closed; refuses waiting requests. */
  end(): Promise<void> {
    const ended = this.#pool.end()
    while (this.#waiting.length > 0) this.#next()
    return ended.finally(() => this.silence?.stop())
  }

  #isReady(): boolean {
    const { totalCount, options } = this.#pool
    return this.#hasIdle() || totalCount === 0 || totalCount >= options.max
  }

  #hasIdle(): boolean {
    return this.#pool.idleCount > this.#taken
  }

  async #take(): Promise<Client> {
    const isIdle = this.#hasIdle()
    if (isIdle) this.#taken++
    try {
      for (;;) {
        const client = await this.#pool.connect()
        if (!this.isRetired(client)) return client
        client.release(true)
      }
    } finally {
      if (isIdle) this.#taken--
      this.#serve()
    }
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#isReady()) this.#next()
    if (this.#waiting.length > 0) return
    this.#growth?.()
    this.#growth = null
  }

  #growSoon(): CancelTimer {
    return this.#timers.after(GROWS_AFTER, () => {
      this.#growth = this.#waiting.length > 1 ? this.#growSoon() : null
      this.#next()
      this.#serve()
    })
  }

  #next(): void {
    this.#waiting.shift()?.(this.#take())
  }
}

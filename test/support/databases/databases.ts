/** Databases for contract suites: SQLite and PostgreSQL, each real and new. */
import { test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureGuests } from '../../../src/core/accounts.rows.ts'
import type { Database } from '../../../src/database/database.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { reportNotRun } from '../processes/not-run.ts'
import { makeVersion } from './earlier-version.ts'
import { createMigratedDatabase, writeMigratedSqlite } from './migrated-database.ts'
import { createDatabase, type TestDatabase, whyNoPostgres } from './postgres.ts'

export interface ContractDatabase extends AsyncDisposable {
  readonly db: Database
  /** Another connection to the same database, as another node has it, where the database supports that. */
  another(): Database
}

export const sqliteDatabase = () => sqliteWith(prepare, writeMigratedSqlite)

async function sqliteWith(
  begin: (db: Database) => Promise<void>,
  write: (path: string) => Promise<void> = async () => {},
): Promise<ContractDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const path = join(folder, 'holdfast.sqlite')
  await write(path)
  const db = openSqlite(path)
  await begin(db)
  return {
    db,
    another: () => db,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const postgresDatabase = async () => postgresWith(await createMigratedDatabase(), prepare)

async function postgresWith(
  { url, drop }: TestDatabase,
  begin: (db: Database) => Promise<void>,
): Promise<ContractDatabase> {
  const opened: Database[] = []
  const another = () => {
    const db = openPostgres(url, { connections: 4, durable: true, report: () => {} })
    opened.push(db)
    return db
  }
  const db = another()
  await begin(db)
  return {
    db,
    another,
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each.destroy()
      await drop()
    },
  }
}

async function prepare(db: Database): Promise<void> {
  await ensureGuests(db, systemRandom, Date.now())
}

type Databases = readonly (readonly [string, Open])[]

/** For `describe.each`. Warns when PostgreSQL is left out; with CI=true that is a failure. */
export function databases(suite: string): Databases {
  return whereThere(suite, sqliteDatabase, postgresDatabase)
}

/** `databases` with the schema of an earlier version and without data. */
export function earlierDatabases(suite: string, version: number): Databases {
  const begin = (db: Database) => makeVersion(db, version)
  return whereThere(
    suite,
    () => sqliteWith(begin),
    async () => postgresWith(await createDatabase(), begin),
  )
}

type Open = () => Promise<ContractDatabase>

function whereThere(suite: string, sqlite: Open, postgres: Open): Databases {
  const obstacle = whyNoPostgres()
  if (obstacle === null) {
    return [
      ['SQLite', sqlite],
      ['PostgreSQL', postgres],
    ]
  }
  reportNotRun(`${suite} on PostgreSQL`, obstacle)
  test.if(process.env.CI === 'true')('PostgreSQL can be had', () => {
    throw new Error(obstacle)
  })
  return [['SQLite', sqlite]]
}

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
import { createMigratedDatabase, writeMigratedSqlite } from './migrated-database.ts'
import { whyNoPostgres } from './postgres.ts'

export interface ContractDatabase extends AsyncDisposable {
  readonly db: Database
  /** Another connection to the same database, as another node has it, where the database supports that. */
  another(): Database
}

export async function sqliteDatabase(): Promise<ContractDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const path = join(folder, 'holdfast.sqlite')
  await writeMigratedSqlite(path)
  const db = openSqlite(path)
  await prepare(db)
  return {
    db,
    another: () => db,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function postgresDatabase(): Promise<ContractDatabase> {
  const { url, drop } = await createMigratedDatabase()
  const opened: Database[] = []
  const another = () => {
    const db = openPostgres(url, { connections: 4, durable: true, report: () => {} })
    opened.push(db)
    return db
  }
  const db = another()
  await prepare(db)
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

/** For `describe.each`. Warns when PostgreSQL is left out; with CI=true that is a failure. */
export function databases(suite: string): readonly (readonly [string, () => Promise<ContractDatabase>])[] {
  const obstacle = whyNoPostgres()
  if (obstacle === null) {
    return [
      ['SQLite', sqliteDatabase],
      ['PostgreSQL', postgresDatabase],
    ]
  }
  reportNotRun(`${suite} on PostgreSQL`, obstacle)
  test.if(process.env.CI === 'true')('PostgreSQL can be had', () => {
    throw new Error(obstacle)
  })
  return [['SQLite', sqliteDatabase]]
}

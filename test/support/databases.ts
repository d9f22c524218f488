/** What a suite over everything on the database runs on: SQLite and PostgreSQL, each real and each fresh. */
import { test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureGuests } from '../../src/database/accounts.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import type { Db } from '../../src/database/schema.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { createMigratedDatabase } from './migrated-database.ts'
import { whyNoPostgres } from './postgres.ts'

export interface ContractDatabase extends AsyncDisposable {
  readonly db: Db
  /** The same database as another node has it open: with connections of its own, where the database knows such. */
  another(): Db
}

export async function sqliteDatabase(): Promise<ContractDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const db = openSqlite(join(folder, 'holdfast.sqlite'))
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
  const opened: Db[] = []
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

async function prepare(db: Db): Promise<void> {
  await migrate(db)
  await ensureGuests(db, systemRandom, Date.now())
}

type Databases = readonly (readonly [string, () => Promise<ContractDatabase>])[]

/** For `describe.each`. Says why when PostgreSQL is left out; with CI=true that is a failure. */
export function databases(suite: string): Databases {
  const obstacle = whyNoPostgres()
  if (obstacle === null) {
    return [
      ['SQLite', sqliteDatabase],
      ['PostgreSQL', postgresDatabase],
    ]
  }
  console.warn(`${suite}: PostgreSQL is left out, because ${obstacle}`)
  test.if(process.env.CI === 'true')('PostgreSQL can be had', () => {
    throw new Error(obstacle)
  })
  return [['SQLite', sqliteDatabase]]
}

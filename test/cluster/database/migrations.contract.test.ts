import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'kysely'
import { ensureGuests } from '../../../src/core/accounts.rows.ts'
import type { Database as AnyDatabase } from '../../../src/database/database.ts'
import { DatabaseTooNew, migrate, migrations, missingMigrations } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { madeUpOf, withNextVersion } from '../../support/databases/next-version.ts'
import { makeOldDatabase } from '../../support/databases/old-database.ts'
import { createDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { unsoundTotals } from '../../support/storage/soundness.ts'

const reason = whyNoPostgres()
if (reason !== null) console.error(`Not run: migrations of PostgreSQL. ${reason}`)

test.skipIf(reason === null || process.env.CI !== 'true')('PostgreSQL for these tests is there', () => {
  expect(reason).toBeNull()
})

describe('a database of an earlier version', () => {
  async function goesOn(db: AnyDatabase): Promise<void> {
    await makeOldDatabase(db, 200)
    using _ = withNextVersion()
    expect(await missingMigrations(db)).toBe(migrations.length - 1)
    await migrate(db)
    await migrate(db)
    expect(await missingMigrations(db)).toBe(0)
    expect(await unsoundTotals(db)).toEqual([])
    const { rows } = await sql<{ name: string; made_up: string }>`select name, made_up from files`.execute(db)
    expect(rows).toHaveLength(200)
    expect(rows.filter(({ name, made_up }) => made_up !== madeUpOf(name))).toEqual([])
  }

  test('of SQLite is migrated with all it has', async () => {
    using folder = temporaryFolder()
    await using stack = new AsyncDisposableStack()
    await goesOn(stack.adopt(openSqlite(join(folder.path, 'holdfast.sqlite')), (it) => it.destroy()))
  })

  test.skipIf(reason !== null)('of PostgreSQL is migrated with all it has', async () => {
    await using stack = new AsyncDisposableStack()
    const database = stack.adopt(await createDatabase(), (it) => it.drop())
    const options = { connections: 1, durable: false, report() {} }
    await goesOn(stack.adopt(openPostgres(database.url, options), (it) => it.destroy()))
  })
})

test('a SQLite database that is newer than the program is refused, one of its own version left as it is', async () => {
  using folder = temporaryFolder()
  await using stack = new AsyncDisposableStack()
  const db = stack.adopt(openSqlite(join(folder.path, 'holdfast.sqlite')), (it) => it.destroy())
  expect(await missingMigrations(db)).toBe(migrations.length)
  await migrate(db)
  await migrate(db)
  expect(await missingMigrations(db)).toBe(0)
  await db
    .updateTable('meta')
    .set({ value: String(migrations.length + 1) })
    .where('key', '=', 'version')
    .execute()
  await expect(migrate(db)).rejects.toThrow(DatabaseTooNew)
  await expect(missingMigrations(db)).rejects.toThrow(DatabaseTooNew)
})

describe.skipIf(reason !== null)('PostgreSQL', () => {
  const options = { connections: 2, durable: true, report() {} }

  test('nodes that start together on an empty database migrate it once', async () => {
    await using stack = new AsyncDisposableStack()
    const database = stack.adopt(await createDatabase(), (it) => it.drop())
    const nodes = Array.from({ length: 5 }, () =>
      stack.adopt(openPostgres(database.url, options), (db) => db.destroy()),
    )
    await Promise.all(
      nodes.map(async (db) => {
        await migrate(db)
        await ensureGuests(db, systemRandom, Date.now())
      }),
    )
    const [db] = nodes
    if (db === undefined) throw new Error('there are no nodes')
    expect(await missingMigrations(db)).toBe(0)
    expect(await db.selectFrom('accounts').select('id').execute()).toHaveLength(1)
  })

  test('a database that is newer than the program is refused', async () => {
    await using stack = new AsyncDisposableStack()
    const database = stack.adopt(await createDatabase(), (it) => it.drop())
    const db = stack.adopt(openPostgres(database.url, options), (it) => it.destroy())
    await migrate(db)
    await db.updateTable('meta').set({ value: '999' }).where('key', '=', 'version').execute()
    await expect(migrate(db)).rejects.toThrow(DatabaseTooNew)
  })
})

/** Statements that PostgreSQL keeps prepared, and what happens when it does not. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { prepared, preparedChange } from '../../../src/database/prepared.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { createMigratedDatabase } from '../../support/databases/migrated-database.ts'
import { whyNoPostgres } from '../../support/databases/postgres.ts'
import { reportNotRun } from '../../support/processes/not-run.ts'

const obstacle = whyNoPostgres()
if (obstacle !== null) reportNotRun('prepared statements', obstacle)

const everything = prepared((db, key: string) => db.selectFrom('meta').selectAll().where('key', '=', key))

const insertValue = preparedChange((db, key: string, value: string) =>
  db.insertInto('meta').values({ key, value }).returningAll(),
)

/** A database on one connection, so that each test knows what is prepared on it. */
async function opened(preparesStatements = true) {
  const { url, drop } = await createMigratedDatabase()
  const open = () =>
    openPostgres(url, { connections: 1, durable: true, preparesStatements, report: () => {} })
  const [db, other] = [open(), open()]
  return {
    db,
    other,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await other.destroy()
      await drop()
    },
  }
}

async function preparedTexts(db: Database): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(db)
  return rows.map((row) => row.statement)
}

async function useBoth(db: Database, key: string): Promise<void> {
  expect(await insertValue(db, key, 'value')).toMatchObject({ changed: 1 })
  expect(await everything(db, key)).toMatchObject([{ key, value: 'value' }])
}

/** Unusable statements in a transaction, where all that came before is rolled back with them. */
async function useBothTogether(db: Database, key: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await trx
      .insertInto('meta')
      .values({ key: `before ${key}`, value: '' })
      .execute()
    await insertValue(trx, key, 'value')
    expect(await everything(trx, key)).toMatchObject([{ key, value: 'value' }])
  })
  const { rows } = await sql`select from meta where key in (${key}, ${`before ${key}`})`.execute(db)
  expect(rows).toHaveLength(2)
}

const addColumn = (db: Database) => sql`alter table meta add column added text`.execute(db)

describe.if(obstacle === null)('frequent statements', () => {
  test('are prepared once a connection, for reads and changes', async () => {
    await using it = await opened()
    await useBoth(it.db, 'one')
    await useBoth(it.db, 'two')
    const texts = await preparedTexts(it.db)
    expect(texts.filter((text) => text.startsWith('select * from "meta"'))).toHaveLength(1)
    expect(texts.filter((text) => text.startsWith('insert into "meta"'))).toHaveLength(1)
  })

  test('are not prepared where the setting says so', async () => {
    await using it = await opened(false)
    await useBoth(it.db, 'one')
    expect(await preparedTexts(it.db)).toEqual([])
  })

  test('are prepared anew when a migration of another node changes their tables', async () => {
    await using it = await opened()
    await useBoth(it.db, 'one')
    await addColumn(it.other)
    expect(await everything(it.db, 'one')).toMatchObject([{ key: 'one', added: null }])
    await useBoth(it.db, 'two')
    expect((await preparedTexts(it.db)).length).toBeGreaterThan(2)
  })

  test('are prepared anew in a transaction that ran into such a migration, and that runs again', async () => {
    await using it = await opened()
    await useBoth(it.db, 'one')
    await addColumn(it.other)
    await useBothTogether(it.db, 'two')
  })

  test('go on unprepared behind a pooler that keeps none', async () => {
    await using it = await opened()
    await useBoth(it.db, 'one')
    // What a pooler does that hands another connection over.
    await sql`deallocate all`.execute(it.db)
    await useBoth(it.db, 'two')
    await useBoth(it.db, 'three')
    expect(await preparedTexts(it.db)).toEqual([])
  })

  test('go on in a transaction too', async () => {
    await using it = await opened()
    await useBoth(it.db, 'one')
    await sql`deallocate all`.execute(it.db)
    await useBothTogether(it.db, 'two')
    expect(await preparedTexts(it.db)).toEqual([])
  })
})

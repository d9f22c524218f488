/** Transactions whose statements are sent together: for PostgreSQL only. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { outageRefusal } from '../../src/core/failures.ts'
import type { Database, StatementPipeline } from '../../src/database/database.ts'
import { isDatabaseFailure, isUniqueViolation } from '../../src/database/differences.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import { preparedStatement } from '../../src/database/prepared.ts'
import { createMigratedDatabase } from '../support/databases/migrated-database.ts'
import { whyNoPostgres } from '../support/databases/postgres.ts'
import { startPostgresProxy } from '../support/databases/postgres-proxy.ts'
import { reportNotRun } from '../support/processes/not-run.ts'

const obstacle = whyNoPostgres()
if (obstacle !== null) reportNotRun('transactions sent at once', obstacle)

const insertMeta = preparedStatement((db, key: string, value: string) =>
  db.insertInto('meta').values({ key, value }).returningAll(),
)
const metaOf = preparedStatement((db, key: string) =>
  db.selectFrom('meta').selectAll().where('key', '=', key),
)
const lockMeta = preparedStatement((db, key: string) =>
  db.selectFrom('meta').selectAll().where('key', '=', key).forUpdate(),
)

async function opened(preparesStatements = true) {
  const { url, drop } = await createMigratedDatabase()
  const proxy = await startPostgresProxy(url)
  const db = openPostgres(proxy.url, { connections: 1, durable: true, preparesStatements, report: () => {} })
  const other = openPostgres(url, { connections: 1, durable: true, report: () => {} })
  const { pipeline } = db
  if (pipeline === null) throw new Error('PostgreSQL has a pipeline')
  const run: StatementPipeline = pipeline
  return {
    db,
    other,
    proxy,
    run,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await other.destroy()
      await proxy.stop()
      await drop()
    },
  }
}

const keys = async (db: Database) =>
  (await db.selectFrom('meta').select('key').where('key', 'like', 'p-%').orderBy('key').execute()).map(
    (row) => row.key,
  )
const nothing = () => {}

describe.if(obstacle === null)('a transaction that is sent at once', () => {
  test('carries out its statements in order, each of which sees those before it', async () => {
    await using it = await opened()
    const before = [insertMeta(it.db, 'p-1', 'one')]
    const found = await it.run(before, [metaOf(it.db, 'p-1'), metaOf(it.db, 'p-2')], nothing)
    expect(found).toEqual([[{ key: 'p-1', value: 'one' }], []])
    expect(await keys(it.other)).toEqual(['p-1'])
  })

  test('sees what was committed while it waited for a lock', async () => {
    await using it = await opened()
    await it.run([insertMeta(it.db, 'p-lock', '')], [], nothing)
    const going = await it.other.transaction().execute(async (trx) => {
      await trx.updateTable('meta').set({ value: 'held' }).where('key', '=', 'p-lock').execute()
      const waiting = it.run([lockMeta(it.db, 'p-lock')], [metaOf(it.db, 'p-new')], nothing)
      await Bun.sleep(200)
      await trx.insertInto('meta').values({ key: 'p-new', value: 'new' }).execute()
      return { waiting }
    })
    expect(await going.waiting).toEqual([[{ key: 'p-new', value: 'new' }]])
  })

  test('is rolled back as a whole when one fails, and leaves its connection usable', async () => {
    await using it = await opened()
    const statements = ['p-1', 'p-1', 'p-2'].map((key) => insertMeta(it.db, key, ''))
    const failure = await it.run([], statements, nothing).catch((error: unknown) => error)
    expect(isUniqueViolation(failure)).toBe(true)
    expect(await keys(it.db)).toEqual([])
    await it.run(statements.slice(1), [], nothing)
    expect(await keys(it.other)).toEqual(['p-1', 'p-2'])
  })

  test('is run again as a whole when a prepared statement is missing', async () => {
    await using it = await opened()
    await it.run([insertMeta(it.db, 'p-1', '')], [metaOf(it.db, 'p-1')], nothing)
    await sql`deallocate all`.execute(it.db)
    const before = [insertMeta(it.db, 'p-2', '')]
    expect(await it.run(before, [metaOf(it.db, 'p-2')], nothing)).toEqual([[{ key: 'p-2', value: '' }]])
    expect(await keys(it.other)).toEqual(['p-1', 'p-2'])
  })

  test('needs no prepared statements', async () => {
    await using it = await opened(false)
    for (const key of ['p-1', 'p-2'])
      await it.run([insertMeta(it.db, key, '')], [metaOf(it.db, key)], nothing)
    expect(await keys(it.other)).toEqual(['p-1', 'p-2'])
  })

  test('says whether it was sent when the database fails', async () => {
    await using it = await opened()
    let sent = 0
    const failing = async () => {
      const statement = insertMeta(it.db, `p-${sent}`, '')
      return it.run([statement], [], () => sent++).catch((error: unknown) => error)
    }
    it.proxy.lose('after', 'insert into meta')
    expect(isDatabaseFailure(await failing())).toBe(true)
    expect({ sent, keys: await keys(it.other) }).toEqual({ sent: 1, keys: ['p-0'] })
    it.proxy.lose('before', 'insert into meta', { thenAway: true })
    expect(isDatabaseFailure(await failing())).toBe(true)
    expect({ sent, keys: await keys(it.other) }).toEqual({ sent: 2, keys: ['p-0'] })
    expect(isDatabaseFailure(await failing())).toBe(true)
    expect(sent).toBe(2)
  })

  test('fails as too slow, not as away, when a statement takes too long', async () => {
    await using it = await opened()
    const failure: unknown = await it.db
      .transaction()
      .execute(async (trx) => {
        await sql`set local statement_timeout = 20`.execute(trx)
        await sql`select pg_sleep(20)`.execute(trx)
      })
      .catch((error: unknown) => error)
    expect(outageRefusal(failure)).toMatchObject({ code: 'SERVER_BUSY' })
  })
})

describe.if(obstacle === null)('the beginning of a transaction', () => {
  test('goes out with the first statement, which belongs to it', async () => {
    await using it = await opened()
    const work = it.db.transaction().execute(async (trx) => {
      await trx.insertInto('meta').values({ key: 'p-1', value: 'one' }).execute()
      expect(await keys(it.other)).toEqual([])
      throw new Error('changed its mind')
    })
    await expect(work).rejects.toThrow('changed its mind')
    expect(await keys(it.other)).toEqual([])
    await it.db.transaction().execute(async () => {})
    await it.db.insertInto('meta').values({ key: 'p-2', value: 'two' }).execute()
    expect(await keys(it.other)).toEqual(['p-2'])
  })
})

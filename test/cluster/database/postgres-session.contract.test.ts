/** What a connection to PostgreSQL depends on, whatever defaults its database has. */
// Only in test:all: servers with settings of their own; growing-pool.contract.test.ts has the pool.
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openPostgres } from '../../../src/database/postgres.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { createMigratedDatabase } from '../../support/databases/migrated-database.ts'
import { whyNoPostgres } from '../../support/databases/postgres.ts'
import { reportNotRun } from '../../support/processes/not-run.ts'

const obstacle = whyNoPostgres()
if (obstacle !== null) reportNotRun('sessions of PostgreSQL', obstacle)

const ODD = {
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  timezone: 'Asia/Kathmandu',
  datestyle: 'German',
  intervalstyle: 'sql_standard',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  extra_float_digits: '-10',
  client_encoding: 'LATIN1',
  transform_null_equals: 'on',
  array_nulls: 'off',
} as const

const EXPECTED = {
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  client_encoding: 'UTF8',
  transform_null_equals: 'off',
  array_nulls: 'on',
}

async function opened(connections: number, odd: Readonly<Record<string, string>> = {}) {
  const { url, drop } = await createMigratedDatabase()
  const name = new URL(url).pathname.slice(1)
  const plain = openPostgres(url, { connections: 1, durable: true, report: () => {} })
  for (const [setting, value] of Object.entries(odd)) {
    await sql`alter database ${sql.id(name)} set ${sql.raw(setting)} = ${sql.lit(value)}`.execute(plain)
  }
  await plain.destroy()
  const db = openPostgres(url, { connections, durable: true, report: () => {} })
  return {
    db,
    url,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await drop()
    },
  }
}

describe.skipIf(obstacle !== null)('a connection to PostgreSQL', () => {
  test('sets what its statements depend on, whatever the database has as its defaults', async () => {
    await using made = await opened(2, ODD)
    const present: Record<string, string> = {}
    for (const setting of Object.keys(EXPECTED)) {
      const { rows } = await sql<{ value: string }>`select current_setting(${setting}) as value`.execute(
        made.db,
      )
      present[setting] = rows[0]?.value ?? ''
    }
    expect(present).toEqual(EXPECTED)
    const level = await inTransaction(made.db, async (trx) => {
      const { rows } = await sql<{ transaction_isolation: string }>`show transaction_isolation`.execute(trx)
      return rows[0]?.transaction_isolation
    })
    expect(level).toBe('read committed')
  })

  test('a migration takes any time where the database limits statements', async () => {
    await using made = await opened(1, { statement_timeout: '1s', lock_timeout: '1s' })
    const patient = openPostgres(made.url, {
      connections: 1,
      durable: true,
      isPatient: true,
      report: () => {},
    })
    const { rows } = await sql<{ value: string }>`
      select current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') as value`.execute(
      patient,
    )
    await patient.destroy()
    expect(rows[0]?.value).toBe('0 0')
  })

  test('transactions at once lose no conflict that only a stricter level knows', async () => {
    await using made = await opened(8, ODD)
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, at) =>
        inTransaction(made.db, async (trx) => {
          const { rows } = await sql<{ n: number }>`select count(*)::int as n from meta`.execute(trx)
          await trx
            .insertInto('meta')
            .values({ key: `k${at}`, value: String(rows[0]?.n) })
            .execute()
        }),
      ),
    )
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
  })

  test('one answer of a primary that takes no writes any more closes all connections of the pool', async () => {
    const most = 6
    await using made = await opened(most)
    const write = (key: string) => made.db.insertInto('meta').values({ key, value: '' }).execute()
    // Each session takes no writes, as all do when their server has become a standby; new sessions do.
    await Promise.all(
      Array.from({ length: most }, () =>
        sql`select set_config('default_transaction_read_only', 'on', false), pg_sleep(1)`.execute(made.db),
      ),
    )
    expect(made.db.poolUse().idle).toBeGreaterThan(1)
    await expect(write('first')).rejects.toMatchObject({ code: '25006' })
    for (let at = 0; at < 2 * most; at++) await write(`after ${at}`)
  })
})

/** A server that stops lets go of PostgreSQL, whatever still goes on there. */
// Only in test:all: a database server of its own.
import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openPostgres } from '../../src/database/postgres.ts'
import { createDatabase, whyNoPostgres } from '../support/databases/postgres.ts'
import { eventually } from '../support/eventually.ts'

const STATEMENT = 'select pg_sleep(60)'

test.skipIf(whyNoPostgres() !== null)(
  'closing does not wait for a statement that goes on and on',
  async () => {
    const { url, drop } = await createDatabase()
    const options = { connections: 1, durable: true, report: () => {} }
    const db = openPostgres(url, options)
    const watcher = openPostgres(url, options)
    let isOver = false
    const ended = sql
      .raw(STATEMENT)
      .execute(db)
      .catch(() => {})
      .then(() => {
        isOver = true
      })
    const isUnderWay = async () => {
      const { rows } = await sql`select 1 from pg_stat_activity where query = ${STATEMENT}`.execute(watcher)
      return rows.length === 1
    }
    await eventually('the statement is under way', isUnderWay)
    await db.destroy()
    expect({ isOver, isUnderWay: await isUnderWay() }).toEqual({ isOver: false, isUnderWay: true })
    await watcher.destroy()
    await drop()
    await ended
  },
)

/** How many connections are opened for what comes: for PostgreSQL only. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openPostgres } from '../../../src/database/postgres.ts'
import { systemTimers, type Timers } from '../../../src/domain/clock.ts'
import { createDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'
import { eventually } from '../../support/eventually.ts'
import { reportNotRun } from '../../support/processes/not-run.ts'

const obstacle = whyNoPostgres()
if (obstacle !== null) reportNotRun('connections opened one by one', obstacle)

async function opened(connections: number) {
  const { url, drop } = await createDatabase()
  const due = new Set<() => void>()
  const timers: Timers = {
    monotonic: systemTimers.monotonic,
    after(_, call) {
      due.add(call)
      return () => due.delete(call)
    },
  }
  const db = openPostgres(url, { connections, durable: true, timers, report: () => {} })
  return {
    db,
    /** Lets the time pass for which somebody waits before a connection is opened; returns how many timers ran. */
    pass() {
      const calls = [...due]
      due.clear()
      for (const call of calls) call()
      return calls.length
    },
    ask: async () => (await sql`select 1 as one`.execute(db)).rows,
    /** Keeps a connection busy until it is called. */
    async hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      const done = db.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx)
        begun.resolve()
        await promise
      })
      return {
        begun: begun.promise,
        async end() {
          resolve()
          await done
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await drop()
    },
  }
}

const ONE = [{ one: 1 }]

describe.if(obstacle === null)('a pool of connections', () => {
  test('answers a burst of queries by the connection that it has', async () => {
    await using it = await opened(8)
    await it.ask()
    expect(await Promise.all(Array.from({ length: 50 }, it.ask))).toEqual(Array(50).fill(ONE))
    expect(it.db.poolUse()).toEqual({ busy: 0, idle: 1, waiting: 0, most: 8 })
    expect(it.pass()).toBe(0)
  })

  test('opens one more each time that somebody has waited for a while', async () => {
    await using it = await opened(8)
    const held = await it.hold()
    await held.begun
    const second = await it.hold()
    const third = await it.hold()
    expect(it.db.poolUse()).toMatchObject({ busy: 1, waiting: 2 })
    expect(it.pass()).toBe(1)
    await second.begun
    expect(it.db.poolUse()).toMatchObject({ busy: 2, waiting: 1 })
    expect(it.pass()).toBe(1)
    await third.begun
    for (const each of [held, second, third]) await each.end()
    expect(it.db.poolUse()).toEqual({ busy: 0, idle: 3, waiting: 0, most: 8 })
  })

  test('serves those that wait by what is given back, the longest first', async () => {
    await using it = await opened(8)
    const held = await it.hold()
    await held.begun
    const answers: number[] = []
    const asked = [1, 2, 3].map((number) => it.ask().then(() => answers.push(number)))
    await held.end()
    await Promise.all(asked)
    expect(answers).toEqual([1, 2, 3])
    expect(it.db.poolUse()).toEqual({ busy: 0, idle: 1, waiting: 0, most: 8 })
  })

  test('opens no more than it may have', async () => {
    await using it = await opened(1)
    const held = await it.hold()
    await held.begun
    const asked = it.ask()
    expect(it.db.poolUse()).toEqual({ busy: 1, idle: 0, waiting: 1, most: 1 })
    expect(it.pass()).toBe(0)
    await held.end()
    expect(await asked).toEqual(ONE)
  })

  test('uses an idle connection while another one is being opened', async () => {
    await using it = await opened(8)
    const held = await it.hold()
    await held.begun
    const second = await it.hold()
    it.pass()
    const asked = it.ask()
    await held.end()
    expect(await asked).toEqual(ONE)
    await second.begun
    await second.end()
  })

  test('opens another one in place of one that has failed', async () => {
    await using it = await opened(8)
    const failed = sql`select pg_terminate_backend(pg_backend_pid())`.execute(it.db)
    const asked = [it.ask(), it.ask()]
    expect(await failed.then(() => null, String)).toContain('terminating')
    expect(await Promise.all(asked)).toEqual([ONE, ONE])
    await eventually('the failed one is gone', () => it.db.poolUse().idle === 1)
  })
})

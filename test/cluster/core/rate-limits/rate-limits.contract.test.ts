/** Rate windows, the same whether a node counts alone in memory or shares them with others in PostgreSQL. */
import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createRateLimits,
  type KeyRate,
  type RateLimits,
  takeForKey,
  type Verdict,
} from '../../../../src/core/rate-limits/rate-limits.ts'
import { createSharedRateLimits } from '../../../../src/core/rate-limits/shared-rate-limits.ts'
import type { Database } from '../../../../src/database/database.ts'
import { isDatabaseFailure } from '../../../../src/database/differences.ts'
import { migrate } from '../../../../src/database/migrate.ts'
import { openPostgres } from '../../../../src/database/postgres.ts'
import { openSqlite } from '../../../../src/database/sqlite.ts'
import { type Clock, DAY, HOUR, MINUTE, SECOND, systemTimers } from '../../../../src/domain/clock.ts'
import type { AccountId, KeyId } from '../../../../src/domain/ids.ts'
import { createMigratedDatabase } from '../../../support/databases/migrated-database.ts'
import { type TestDatabase, whyNoPostgres } from '../../../support/databases/postgres.ts'
import { freePort } from '../../../support/processes/free-port.ts'
import { reportNotRun } from '../../../support/processes/not-run.ts'

const GIB = 1024 ** 3

interface TestClock extends Clock {
  advance(milliseconds: number): void
}

interface Adapter extends AsyncDisposable {
  readonly db: Database
  readonly clock: TestClock
  readonly rates: RateLimits
  /** The windows as a process that starts now sees them; it has connections of its own where windows are shared. */
  another(): Promise<RateLimits>
}

function handClock(): TestClock {
  let time = Date.UTC(2030, 0, 1)
  return {
    now: () => time,
    monotonic: () => time,
    timers: systemTimers,
    advance(milliseconds) {
      time += milliseconds
    },
  }
}

async function alone(): Promise<Adapter> {
  const clock = handClock()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const db = openSqlite(join(folder, 'holdfast.sqlite'))
  await migrate(db)
  const rates = await createRateLimits(db, clock)
  return {
    db,
    clock,
    rates,
    async another() {
      await rates.flush()
      return createRateLimits(db, clock)
    },
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await rm(folder, { recursive: true })
    },
  }
}

interface SharedAdapter extends Adapter {
  readonly url: string
  /** One more node, with connections of its own to the database at `url` and a clock that is ahead of the others'. */
  node(options?: { ahead?: number; url?: string }): RateLimits
}

/** One for all tests of this file, because making it takes longest; each test finds it without windows. */
let database: Promise<TestDatabase> | null = null

afterAll(async () => {
  await (await database)?.drop()
})

async function shared(): Promise<SharedAdapter> {
  const clock = handClock()
  database ??= createMigratedDatabase()
  const { url: databaseUrl } = await database
  const opened: Database[] = []
  const open = (url: string) => {
    const db = openPostgres(url, { connections: 8, durable: false, report: () => {} })
    opened.push(db)
    return db
  }
  const node: SharedAdapter['node'] = ({ ahead = 0, url = databaseUrl } = {}) =>
    createSharedRateLimits(open(url), { ...clock, now: () => clock.now() + ahead })
  const db = open(databaseUrl)
  await db.deleteFrom('rate_windows').execute()
  return {
    url: databaseUrl,
    db,
    clock,
    rates: createSharedRateLimits(db, clock),
    node,
    another: async () => node(),
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each.destroy()
    },
  }
}

const obstacle = whyNoPostgres()
if (obstacle !== null) {
  reportNotRun('rate windows that nodes share', obstacle)
  test.if(process.env.CI === 'true')('PostgreSQL can be had', () => {
    throw new Error(obstacle)
  })
}

const adapters = [
  ['in memory', alone],
  ...(obstacle === null ? [['that nodes share', shared] as const] : []),
] as const

const subjectsIn = async (db: Database) =>
  (await db.selectFrom('rate_windows').select('subject').orderBy('subject').execute()).map(
    (row) => row.subject,
  )

describe.each(adapters)('a rate window %s', (_, build) => {
  test('opens with the first use', async () => {
    await using parts = await build()
    const { rates, clock } = parts
    const first = await rates.take('key:1', 1, 10, HOUR)
    expect(first).toEqual({ allowed: true, limit: 10, remaining: 9, resetsIn: 3600, openedAt: clock.now() })
    clock.advance(10 * MINUTE)
    expect(await rates.take('key:1', 1, 10, HOUR)).toEqual({
      allowed: true,
      limit: 10,
      remaining: 8,
      resetsIn: 3000,
      openedAt: first.openedAt,
    })
  })

  test('is each subject’s own', async () => {
    await using parts = await build()
    const { rates } = parts
    expect(await rates.take('key:1', 1, 1, HOUR)).toMatchObject({ allowed: true })
    expect(await rates.take('key:2', 1, 1, HOUR)).toMatchObject({ allowed: true })
    expect(await rates.take('key:1', 1, 1, HOUR)).toMatchObject({ allowed: false })
  })

  test('lets the limit pass and no more', async () => {
    await using parts = await build()
    const { rates } = parts
    expect(await rates.take('key:1', 1, 2, HOUR)).toMatchObject({ allowed: true, remaining: 1 })
    expect(await rates.take('key:1', 1, 2, HOUR)).toMatchObject({ allowed: true, remaining: 0 })
    expect(await rates.take('key:1', 1, 2, HOUR)).toMatchObject({ allowed: false, remaining: 0 })
  })

  test('lets the limit pass and no more when the takes come at once', async () => {
    await using parts = await build()
    const takes = Array.from({ length: 60 }, () => parts.rates.take('key:1', 1, 40, HOUR))
    const verdicts = await Promise.all(takes)
    const allowed = verdicts.filter((verdict) => verdict.allowed)
    const left = allowed.map((verdict) => verdict.remaining).sort((a, b) => a - b)
    expect(left).toEqual(Array.from({ length: 40 }, (_, index) => index))
    for (const verdict of verdicts) if (!verdict.allowed) expect(verdict.remaining).toBe(0)
  })

  test('does not count what is refused', async () => {
    await using parts = await build()
    const { rates } = parts
    await rates.take('guest', 6, 10, HOUR)
    expect(await rates.take('guest', 5, 10, HOUR)).toMatchObject({ allowed: false, remaining: 4 })
    expect(await rates.take('guest', 4, 10, HOUR)).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('is not opened by what is refused', async () => {
    await using parts = await build()
    const { rates, clock } = parts
    const refused = await rates.take('guest', 11, 10, HOUR)
    expect(refused).toMatchObject({ allowed: false, remaining: 10, resetsIn: 3600 })
    clock.advance(10 * MINUTE)
    expect(await rates.take('guest', 10, 10, HOUR)).toMatchObject({ allowed: true, resetsIn: 3600 })
    clock.advance(HOUR)
    expect(await rates.take('guest', 11, 10, HOUR)).toMatchObject({ allowed: false, remaining: 10 })
  })

  test('is looked at without being opened or changed', async () => {
    await using parts = await build()
    const { db, rates, clock } = parts
    const look = (amount: number) => rates.look('guest', amount, 10, HOUR)
    expect(await look(10)).toMatchObject({ allowed: true, remaining: 10, resetsIn: 3600 })
    expect(await look(11)).toMatchObject({ allowed: false, remaining: 10 })
    await rates.flush()
    expect(await subjectsIn(db)).toEqual([])
    await rates.take('guest', 6, 10, HOUR)
    clock.advance(10 * MINUTE)
    expect(await look(4)).toMatchObject({ allowed: true, remaining: 4, resetsIn: 3000 })
    expect(await look(5)).toMatchObject({ allowed: false, remaining: 4, resetsIn: 3000 })
    expect(await rates.take('guest', 4, 10, HOUR)).toMatchObject({ allowed: true, remaining: 0 })
    clock.advance(50 * MINUTE)
    expect(await look(10)).toMatchObject({ allowed: true, remaining: 10, resetsIn: 3600 })
  })

  test('is refused for as many seconds as it still runs, rounded up', async () => {
    await using parts = await build()
    const { rates, clock } = parts
    await rates.take('key:1', 1, 1, HOUR)
    clock.advance(MINUTE - 1)
    expect(await rates.take('key:1', 1, 1, HOUR)).toMatchObject({ allowed: false, resetsIn: 3541 })
    clock.advance(HOUR - MINUTE)
    expect(await rates.take('key:1', 1, 1, HOUR)).toMatchObject({ allowed: false, resetsIn: 1 })
    clock.advance(1)
    expect(await rates.take('key:1', 1, 1, HOUR)).toMatchObject({
      allowed: true,
      remaining: 0,
      resetsIn: 3600,
      openedAt: clock.now(),
    })
  })

  test('counts amounts beyond 32 bits to the byte', async () => {
    await using parts = await build()
    const { rates } = parts
    expect(await rates.take('guest', 50 * GIB - 1, 50 * GIB, HOUR)).toMatchObject({ remaining: 1 })
    expect(await rates.take('guest', 2, 50 * GIB, HOUR)).toMatchObject({ allowed: false, remaining: 1 })
    expect(await rates.take('guest', 1, 50 * GIB, HOUR)).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('is never passed by a byte when amounts of all sizes come at once at its edge', async () => {
    await using parts = await build()
    const { rates } = parts
    const limit = 50 * GIB
    const free = 1000
    await rates.take('guest', limit - free, limit, HOUR)
    const amounts = Array.from({ length: 64 }, (_, index) => 1 + ((index * 37) % 64))
    const verdicts = await Promise.all(amounts.map((amount) => rates.take('guest', amount, limit, HOUR)))
    const taken = amounts.filter((_, index) => verdicts[index]?.allowed).reduce((sum, n) => sum + n, 0)
    const { remaining } = await rates.take('guest', 0, limit, HOUR)
    expect(remaining).toBe(free - taken)
    expect(remaining).toBeGreaterThanOrEqual(0)
    // What was refused had no room then, and less is left now.
    for (const [index, amount] of amounts.entries()) {
      if (verdicts[index]?.allowed === false) expect(amount).toBeGreaterThan(remaining)
    }
  })

  test('lets the last of it pass when two want all that is left', async () => {
    await using parts = await build()
    const take = (amount: number) => parts.rates.take('guest', amount, 10, HOUR)
    const verdicts = await Promise.all([take(1), take(9), take(9)])
    expect(verdicts.map(({ allowed, remaining }) => ({ allowed, remaining }))).toEqual([
      { allowed: true, remaining: 9 },
      { allowed: true, remaining: 0 },
      { allowed: false, remaining: 0 },
    ])
  })

  test('gets back what was not used', async () => {
    await using parts = await build()
    const { rates } = parts
    const { openedAt } = await rates.take('guest', 10, 10, HOUR)
    await rates.giveBack('guest', 4, openedAt)
    expect(await rates.take('guest', 5, 10, HOUR)).toMatchObject({ allowed: false, remaining: 4 })
    expect(await rates.take('guest', 4, 10, HOUR)).toMatchObject({ allowed: true })
  })

  test('gets nothing back from one that was over before', async () => {
    await using parts = await build()
    const { rates, clock } = parts
    const { openedAt } = await rates.take('guest', 10, 10, HOUR)
    clock.advance(HOUR)
    await rates.take('guest', 10, 10, HOUR)
    await rates.giveBack('guest', 10, openedAt)
    expect(await rates.take('guest', 1, 10, HOUR)).toMatchObject({ allowed: false })
  })

  test('never gets back more than was used', async () => {
    await using parts = await build()
    const { rates } = parts
    const { openedAt } = await rates.take('guest', 3, 10, HOUR)
    await rates.giveBack('guest', 5, openedAt)
    expect(await rates.take('guest', 0, 10, HOUR)).toMatchObject({ remaining: 10 })
    await rates.giveBack('nobody', 5, openedAt)
    expect(await rates.take('nobody', 0, 10, HOUR)).toMatchObject({ remaining: 10 })
  })

  test('goes on where it was after a restart', async () => {
    await using parts = await build()
    const { rates, clock } = parts
    const { openedAt } = await rates.take('key:1', 3, 10, HOUR)
    clock.advance(10 * MINUTE)
    const restarted = await parts.another()
    expect(await restarted.take('key:1', 1, 10, HOUR)).toEqual({
      allowed: true,
      limit: 10,
      remaining: 6,
      resetsIn: 3000,
      openedAt,
    })
  })

  test('that a wrong clock opened in the future begins anew', async () => {
    await using parts = await build()
    const { rates, clock } = parts
    clock.advance(DAY)
    await rates.take('key:1', 1, 1, HOUR)
    clock.advance(-DAY)
    expect(await rates.take('key:1', 1, 1, HOUR)).toMatchObject({
      allowed: true,
      resetsIn: 3600,
      openedAt: clock.now(),
    })
    expect(await rates.take('key:1', 1, 1, HOUR)).toMatchObject({ allowed: false })
  })

  test('is dropped when it is over, while others go on', async () => {
    await using parts = await build()
    const { rates, clock, db } = parts
    for (let index = 0; index < 20; index += 1) await rates.take(`old:${index}`, 1, 10, HOUR)
    clock.advance(HOUR - MINUTE)
    await rates.take('running', 3, 10, HOUR)
    await rates.flush()
    expect(await subjectsIn(db)).toHaveLength(21)
    clock.advance(2 * MINUTE)
    await rates.flush()
    expect(await subjectsIn(db)).toEqual(['running'])
    expect(await rates.take('running', 0, 10, HOUR)).toMatchObject({ remaining: 7 })
    expect(await rates.take('old:1', 0, 10, HOUR)).toMatchObject({ remaining: 10, openedAt: clock.now() })
  })
})

describe.each(adapters)('the rates of keys %s', (_, build) => {
  const take = ({ rates }: Adapter, key: number, rate: KeyRate) =>
    takeForKey(rates, { key: key as KeyId, account: 1 as AccountId }, 1, rate)

  test('have a ceiling together, and what that refuses counts for no key', async () => {
    await using it = await build()
    const rate = { limit: 3, factor: 2 }
    for (let request = 0; request < 3; request++) await take(it, 1, rate)
    // Of what is left, the lesser is told.
    expect(await take(it, 2, rate)).toMatchObject({ allowed: true, limit: 3, remaining: 2 })
    expect(await take(it, 3, rate)).toMatchObject({ allowed: true, limit: 3, remaining: 1 })
    expect(await take(it, 2, rate)).toMatchObject({ allowed: true, limit: 3, remaining: 0, ceiling: null })
    expect(await take(it, 3, rate)).toMatchObject({ allowed: false, limit: 3, remaining: 0, ceiling: 6 })
    expect(await take(it, 3, { limit: 3, factor: 0 })).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('have none with the factor 0, and no key counts there what it was refused', async () => {
    await using it = await build()
    for (let key = 1; key <= 3; key++) {
      expect(await take(it, key, { limit: 1, factor: 0 })).toMatchObject({ allowed: true, ceiling: null })
      expect(await take(it, key, { limit: 1, factor: 1 })).toMatchObject({ allowed: false, ceiling: null })
    }
    expect(await take(it, 4, { limit: 1, factor: 1 })).toMatchObject({ allowed: true })
  })
})

test('a node alone forgets windows that are over: what was dropped is not dropped again', async () => {
  await using parts = await alone()
  const { rates, clock, db } = parts
  await rates.take('key:1', 1, 10, HOUR)
  clock.advance(HOUR)
  await rates.flush()
  using transactions = spyOn(db, 'transaction')
  await rates.flush()
  expect(transactions).not.toHaveBeenCalled()
})

describe.if(obstacle === null)('nodes that share rate windows', () => {
  const count = (verdicts: readonly Verdict[]) => verdicts.filter((verdict) => verdict.allowed).length

  test('let exactly the limit of 1,000 pass of 1,100 requests spread over three of them', async () => {
    await using parts = await shared()
    const takes = [367, 367, 366].flatMap((length) => {
      const node = parts.node()
      return Array.from({ length }, () => node.take('key:1', 1, 1000, HOUR))
    })
    const verdicts = await Promise.all(takes)
    expect(verdicts).toHaveLength(1100)
    expect(count(verdicts)).toBe(1000)
    const left = verdicts.filter((verdict) => verdict.allowed).map((verdict) => verdict.remaining)
    expect(new Set(left).size).toBe(1000)
  })

  test('decide what comes at once with a few statements, also at the edge of the limit', async () => {
    await using parts = await shared()
    using statements = spyOn(parts.db, 'executeQuery')
    const take = (subject: string) => parts.rates.take(subject, 1, 40, HOUR)
    const verdicts = await Promise.all(Array.from({ length: 100 }, (_, index) => take(`key:${index % 2}`)))
    expect(count(verdicts)).toBe(80)
    expect(statements.mock.calls.length).toBeLessThanOrEqual(4)
  })

  test('never pass the limit by a byte with 64 amounts at once on two of them', async () => {
    await using parts = await shared()
    const nodes = [parts.node(), parts.node()]
    const limit = 50 * GIB
    const amount = 2 * GIB + 1
    const verdicts = await Promise.all(
      Array.from({ length: 32 }, () => nodes.map((node) => node.take('guest', amount, limit, HOUR))).flat(),
    )
    expect(count(verdicts)).toBe(24)
    expect(await parts.rates.take('guest', 0, limit, HOUR)).toMatchObject({ remaining: limit - 24 * amount })
  })

  test('open one window together, again and again', async () => {
    await using parts = await shared()
    const nodes = [parts.node(), parts.node(), parts.node()]
    for (let round = 0; round < 10; round += 1) {
      const verdicts = await Promise.all(
        Array.from({ length: 5 }, () => nodes.map((node) => node.take('key:1', 1, 5, HOUR))).flat(),
      )
      expect(count(verdicts)).toBe(5)
      expect(new Set(verdicts.map((verdict) => verdict.openedAt))).toEqual(new Set([parts.clock.now()]))
      parts.clock.advance(HOUR)
    }
  })

  test('count in one window although their clocks differ by some seconds', async () => {
    await using parts = await shared()
    const nodes = [parts.node({ ahead: 20 * SECOND }), parts.node(), parts.node({ ahead: -20 * SECOND })]
    const verdicts: Verdict[] = []
    for (let round = 0; round < 10; round += 1) {
      for (const node of nodes) verdicts.push(await node.take('key:1', 1, 20, HOUR))
      parts.clock.advance(SECOND)
    }
    expect(count(verdicts)).toBe(20)
    expect(new Set(verdicts.map((verdict) => verdict.openedAt)).size).toBe(1)
    for (const { resetsIn } of verdicts) expect(resetsIn).toBeLessThanOrEqual(3600)
  })

  test('count in the newer window when the clock of one is behind at its opening', async () => {
    await using parts = await shared()
    const [early, late] = [parts.node(), parts.node({ ahead: -5 * SECOND })]
    await early.take('key:1', 1, 2, HOUR)
    parts.clock.advance(HOUR)
    const reopened = await early.take('key:1', 1, 2, HOUR)
    expect(await late.take('key:1', 1, 2, HOUR)).toMatchObject({
      allowed: true,
      remaining: 0,
      openedAt: reopened.openedAt,
    })
    expect(await early.take('key:1', 1, 2, HOUR)).toMatchObject({ allowed: false })
  })

  test('count every give-back among takes at once', async () => {
    await using parts = await shared()
    const nodes = [parts.node(), parts.node(), parts.node()]
    async function takeAndGiveBack(node: RateLimits): Promise<Verdict> {
      const verdict = await node.take('guest', 3, 100, HOUR)
      if (verdict.allowed) await node.giveBack('guest', 2, verdict.openedAt)
      return verdict
    }
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, () => nodes.map((node) => takeAndGiveBack(node))).flat(),
    )
    const { remaining } = await parts.rates.take('guest', 0, 100, HOUR)
    expect(remaining).toBe(100 - count(verdicts))
  })

  test('drop more windows that are over than one statement takes', async () => {
    await using parts = await shared()
    const opened_at = parts.clock.now()
    const rows = Array.from({ length: 2500 }, (_, index) => ({
      subject: `guest:${index}`,
      opened_at,
      ends_at: opened_at + HOUR,
      used: 1,
    }))
    await parts.db.insertInto('rate_windows').values(rows).execute()
    parts.clock.advance(HOUR + 2 * MINUTE)
    await parts.rates.take('key:1', 1, 10, HOUR)
    await Promise.all([parts.node().flush(), parts.node().flush()])
    expect(await subjectsIn(parts.db)).toEqual(['key:1'])
  })

  test('decide nothing while the database is away, and give back when it is there again', async () => {
    await using parts = await shared()
    const port = await freePort()
    const url = new URL(parts.url)
    url.host = `127.0.0.1:${port}`
    const cutOff = parts.node({ url: url.href })
    const { openedAt } = await parts.rates.take('guest', 10, 10, HOUR)

    const failure: unknown = await cutOff.take('guest', 1, 10, HOUR).catch((error: unknown) => error)
    expect(isDatabaseFailure(failure)).toBe(true)
    await cutOff.giveBack('guest', 4, openedAt)
    await cutOff.giveBack('guest', 3, openedAt)
    await expect(cutOff.flush()).rejects.toThrow()
    expect(await parts.rates.take('guest', 0, 10, HOUR)).toMatchObject({ remaining: 0 })

    using _relay = relay(port, new URL(parts.url))
    await cutOff.flush()
    await cutOff.flush()
    expect(await cutOff.take('guest', 0, 10, HOUR)).toMatchObject({ remaining: 7 })
  })
})

/** Passes connections to a port of this machine on to the server. */
function relay(port: number, server: URL): Disposable {
  const sockets = new Set<Socket>()
  const listener = createServer((near) => {
    const far = connect(Number(server.port || 5432), server.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.pipe(far).pipe(near)
  }).listen(port, '127.0.0.1')
  return {
    [Symbol.dispose]() {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

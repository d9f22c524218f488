/** Keys that are looked up and counted by one statement: for PostgreSQL only. */
import { describe, expect, spyOn, test } from 'bun:test'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import { createKeyedRequests } from '../../../src/accounts/keyed-requests.ts'
import { issueKey } from '../../../src/accounts/keys.ts'
import type { KeyRate } from '../../../src/core/rate-limits/rate-limits.ts'
import { createSharedRateLimits } from '../../../src/core/rate-limits/shared-rate-limits.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { HOUR, MINUTE } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createMigratedDatabase } from '../../support/databases/migrated-database.ts'
import { whyNoPostgres } from '../../support/databases/postgres.ts'
import { handClock } from '../../support/hand-clock.ts'
import { reportNotRun } from '../../support/processes/not-run.ts'

const obstacle = whyNoPostgres()
if (obstacle !== null) reportNotRun('keys counted as they are looked up', obstacle)

async function opened() {
  await using making = new AsyncDisposableStack()
  const { url } = making.adopt(await createMigratedDatabase(), (it) => it.drop())
  const clock = handClock()
  const open = () =>
    making.adopt(openPostgres(url, { connections: 4, durable: false, report: () => {} }), (it) =>
      it.destroy(),
    )
  const db = open()
  const { id: account } = await createAccounts(db, clock, systemRandom).add('ann')
  const made = making.move()
  return {
    db,
    clock,
    account,
    node(rate: KeyRate, on = db) {
      const rates = createSharedRateLimits(on, clock)
      return createKeyedRequests({ db: on, rates, clock, rate })
    },
    /** Connections of another node. */
    open: () =>
      made.adopt(openPostgres(url, { connections: 4, durable: false, report: () => {} }), (it) =>
        it.destroy(),
      ),
    issue: (expiresAt: number | null = null) =>
      issueKey(db, clock, systemRandom, account, { name: 'key', scopes: ['read'], folder: null, expiresAt }),
    used: async () =>
      Object.fromEntries(
        (await db.selectFrom('rate_windows').select(['subject', 'used']).orderBy('subject').execute()).map(
          ({ subject, used }) => [subject, used],
        ),
      ),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}

type Opened = Awaited<ReturnType<typeof opened>>

const verdicts = async (node: ReturnType<Opened['node']>, keys: readonly string[]) =>
  (await Promise.all(keys.map((key) => node.admit(key)))).map(({ verdict }) => verdict)

describe.if(obstacle === null)('a request with a key', () => {
  test('is counted for its key and its account by one statement, however many come at once', async () => {
    await using it = await opened()
    const [one, two] = [await it.issue(), await it.issue()]
    const node = it.node({ limit: 10, factor: 2 })
    await node.admit(one.apiKey)
    using statements = spyOn(it.db, 'executeQuery')
    const told = await verdicts(node, [one.apiKey, two.apiKey, one.apiKey, two.apiKey])
    // The first goes by itself, the others together.
    expect(statements.mock.calls.length).toBe(2)
    expect(told.map(({ allowed, limit, remaining }) => [allowed, limit, remaining])).toEqual([
      [true, 10, 8],
      [true, 10, 9],
      [true, 10, 7],
      [true, 10, 8],
    ])
    expect(told[0]).toMatchObject({ ceiling: null, resetsIn: HOUR / 1000, openedAt: it.clock.now() })
    expect(await it.used()).toEqual({
      [`key:${one.id}`]: 3,
      [`key:${two.id}`]: 2,
      [`keys-of:${it.account}`]: 5,
    })
  })

  test('passes exactly as often as the limit allows, over three nodes', async () => {
    await using it = await opened()
    const { apiKey } = await it.issue()
    const rate = { limit: 1000, factor: 10 }
    const told = await Promise.all(
      [367, 367, 366].map((length) => verdicts(it.node(rate, it.open()), Array(length).fill(apiKey))),
    )
    const passed = told.flat().filter(({ allowed }) => allowed)
    expect(passed).toHaveLength(1000)
    expect(new Set(passed.map(({ remaining }) => remaining)).size).toBe(1000)
    expect(Object.values(await it.used())).toEqual([1000, 1000])
  })

  test('passes as often as all keys of the account may, and is counted for none when it does not', async () => {
    await using it = await opened()
    const keys = [await it.issue(), await it.issue(), await it.issue()]
    const node = it.node({ limit: 4, factor: 2 })
    const told = await verdicts(
      node,
      Array(4)
        .fill(keys)
        .flat()
        .map(({ apiKey }) => apiKey),
    )
    const passed = told.filter(({ allowed }) => allowed)
    expect(passed).toHaveLength(8)
    expect(told.filter(({ allowed }) => !allowed)[0]).toMatchObject({ limit: 4, remaining: 0, ceiling: 8 })
    const used = await it.used()
    expect(used[`keys-of:${it.account}`]).toBe(8)
    expect(keys.reduce((sum, { id }) => sum + (used[`key:${id}`] ?? 0), 0)).toBe(8)
  })

  test('is told what is left by itself, also beside one whose key has nothing left', async () => {
    await using it = await opened()
    const [full, other] = [await it.issue(), await it.issue()]
    const node = it.node({ limit: 10, factor: 1 })
    for (let request = 0; request < 8; request++) await node.admit(full.apiKey)
    // The first goes by itself, and those of the same key after it do not fit together.
    const keys = [other, full, full, full, other].map(({ apiKey }) => apiKey)
    const told = await verdicts(node, keys)
    expect(told.map(({ allowed }) => allowed)).toEqual([true, false, false, false, true])
    expect(told.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).toEqual([1, 0])
  })

  test('passes without a ceiling where there is none', async () => {
    await using it = await opened()
    const { id, apiKey } = await it.issue()
    const told = await verdicts(it.node({ limit: 2, factor: 0 }), [apiKey, apiKey, apiKey])
    expect(told.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 1],
      [true, 0],
      [false, 0],
    ])
    expect(await it.used()).toEqual({ [`key:${id}`]: 2 })
  })

  test('opens a window when the last one is over', async () => {
    await using it = await opened()
    const { apiKey } = await it.issue()
    const node = it.node({ limit: 1, factor: 1 })
    expect((await node.admit(apiKey)).verdict.allowed).toBe(true)
    expect((await node.admit(apiKey)).verdict).toMatchObject({ allowed: false, resetsIn: 3600 })
    it.clock.advance(HOUR)
    expect((await node.admit(apiKey)).verdict).toMatchObject({ allowed: true, openedAt: it.clock.now() })
  })

  test('is refused and counted nowhere when the key cannot be used', async () => {
    await using it = await opened()
    const [revoked, expiring] = [await it.issue(), await it.issue(it.clock.now() + MINUTE)]
    await it.db.updateTable('api_keys').set({ revoked_at: 1 }).where('id', '=', revoked.id).execute()
    it.clock.advance(MINUTE)
    const node = it.node({ limit: 10, factor: 1 })
    const code = (key: string) => node.admit(key).catch((error: { code: string }) => error.code)
    for (const key of [revoked.apiKey, expiring.apiKey, 'hf_unknown'])
      expect(await code(key)).toBe('INVALID_API_KEY')
    const usable = await it.issue()
    await it.db.updateTable('accounts').set({ disabled_at: 1 }).where('id', '=', it.account).execute()
    expect(await code(usable.apiKey)).toBe('ACCOUNT_DISABLED')
    expect(await it.used()).toEqual({})
  })
})

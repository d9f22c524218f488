import { describe, expect, test } from 'bun:test'
import type { KyselyPlugin } from 'kysely'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import { noteChange } from '../../../src/core/changes.rows.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import type { ChangeId } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { ChangeFeed, WATCHERS } from '../../../src/events/change-feed.ts'
import type { Watcher } from '../../../src/events/watcher.ts'
import { databases } from '../../support/databases/databases.ts'
import { pluggedDatabase } from '../../support/databases/plugged-database.ts'
import { eventually } from '../../support/eventually.ts'
import { handClock } from '../../support/hand-clock.ts'

/** Holds answers with changes back while told to, as a network may. */
function slowAnswers() {
  let held = 0
  let free: PromiseWithResolvers<void> | null = null
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (free !== null && result.rows.some((row) => 'from_place' in row)) {
        held += 1
        await free.promise
      }
      return result
    },
  }
  return {
    plugin,
    hold() {
      free = Promise.withResolvers()
    },
    isHeld: () => held > 0,
    letGo() {
      free?.resolve()
      free = null
    },
  }
}

/** What a watcher is told, as it comes. */
function toldTo(watcher: Watcher): ChangeId[] {
  const told: ChangeId[] = []
  const read = async () => {
    for (let next = await watcher.next(); next !== null; next = await watcher.next()) told.push(next.at)
  }
  void read()
  return told
}

describe.each(databases('watching'))('on %s', (_, open) => {
  test('as many watch as one account may, and as all may, however many come at once', async () => {
    await using contract = await open()
    const clock = handClock()
    const { holders: MOST_WATCHERS } = WATCHERS.each
    const { holders: MOST_OF_ALL } = WATCHERS.all
    const watching = new ChangeFeed(contract.db, clock, () => {})
    using ending = new DisposableStack()
    ending.defer(() => watching.stop())
    const all: Watcher[] = []
    const codes = new Set<unknown>()
    const accounts = MOST_OF_ALL / MOST_WATCHERS + 1
    for (let at = 0; at < accounts; at++) {
      const { id } = await createAccounts(contract.db, clock, systemRandom).add(`watcher${at}`)
      const attempts = Array.from({ length: MOST_WATCHERS + 10 }, () =>
        watching.watch({ account: id, within: null }, null, async () => true),
      )
      const settled = await Promise.allSettled(attempts)
      const watchers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      for (const each of settled) if (each.status === 'rejected') codes.add(each.reason.code)
      expect(watchers).toHaveLength(at < accounts - 1 ? MOST_WATCHERS : MOST_WATCHERS - 5)
      all.push(...watchers)
    }
    expect([...codes]).toEqual(['RATE_LIMITED', 'SERVER_BUSY'])
    // The last account has taken places of those that had most.
    const ended = await Promise.all(all.map(async (watcher) => (await watcher.next()) === null))
    expect(ended.filter((isOver) => !isOver)).toHaveLength(MOST_OF_ALL)
  })

  test('who comes back while changes are being read misses nothing', async () => {
    await using contract = await open()
    const clock = handClock()
    const { id: account } = await createAccounts(contract.db, clock, systemRandom).add('alice')
    const answers = slowAnswers()
    const watching = new ChangeFeed(pluggedDatabase(contract.db, answers.plugin), clock, () => {})
    using ending = new DisposableStack()
    ending.defer(() => watching.stop())
    const reach = { account, within: null }
    const isAllowed = async () => true
    const change = () => inTransaction(contract.db, (trx) => noteChange(trx, account, { kind: 'bin' }))
    const first = await watching.watch(reach, null, isAllowed)
    const toFirst = toldTo(first)
    for (let count = 0; count < 5; count++) await change()
    await eventually('the first is told', () => toFirst.length === 6)

    answers.hold()
    await change()
    await eventually('a look is under way', answers.isHeld)
    const toSecond = toldTo(await watching.watch(reach, toFirst[2] ?? null, isAllowed))
    answers.letGo()
    await change()
    await eventually('both know the last', () => toFirst.length === 8 && toSecond.at(-1) === toFirst.at(-1))
    expect(toSecond).toEqual(toFirst.slice(2))
  })
})

/** Look-ups that come at once. */
import { describe, expect, test } from 'bun:test'
import { Batcher } from '../../../src/database/batcher.ts'
import type { Database } from '../../../src/database/database.ts'
import { lookup } from '../../../src/database/prepared.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { databases } from '../../support/databases/databases.ts'

interface MetaRow {
  readonly key: string
  readonly value: string
}

const metaCalled = lookup<string, MetaRow>({
  column: 'meta.key',
  build: (db, isWanted) => db.selectFrom('meta').select(['key', 'value']).where(isWanted),
  valueIn: (row) => row.key,
})

const insert = (db: Database, rows: readonly MetaRow[]) => db.insertInto('meta').values(rows).execute()

describe.each(databases('look-ups'))('on %s', (_, open) => {
  test('each of many at once finds its own row, and those without one find none', async () => {
    await using it = await open()
    const rows = Array.from({ length: 600 }, (_row, index) => ({ key: `k${index}`, value: `v${index}` }))
    await insert(it.db, rows)
    const wanted = ['none', ...rows.map(({ key }) => key), 'k7', 'nothing']
    const found = await Promise.all(wanted.map((key) => metaCalled(it.db, key)))
    expect(found).toEqual([undefined, ...rows, { key: 'k7', value: 'v7' }, undefined])
  })

  test('one that comes after a commit sees it, although others are under way', async () => {
    await using it = await open()
    for (let round = 0; round < 50; round++) {
      const key = `k${round}`
      const before = Promise.all(Array.from({ length: 5 }, () => metaCalled(it.db, 'other')))
      await insert(it.db, [{ key, value: 'there' }])
      expect(await metaCalled(it.db, key)).toEqual({ key, value: 'there' })
      await before
    }
  })

  test('one in a transaction sees what that has done, and others do not', async () => {
    await using it = await open()
    await inTransaction(it.db, async (trx) => {
      await trx.insertInto('meta').values({ key: 'one', value: 'a' }).execute()
      expect(await metaCalled(trx, 'one')).toEqual({ key: 'one', value: 'a' })
      expect(await metaCalled(it.db, 'one')).toBeUndefined()
    })
  })
})

describe('questions that are batched', () => {
  /** Answers by hand. */
  function slow() {
    const asked: { readonly questions: readonly number[]; readonly end: (error?: Error) => void }[] = []
    const batcher = new Batcher((questions: readonly number[]) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>()
      const end = (error?: Error) =>
        error === undefined ? resolve(questions.map((n) => 2 * n)) : reject(error)
      asked.push({ questions, end })
      return promise
    })
    return { asked, batcher }
  }

  test('wait for the one that is under way, and go together then', async () => {
    const { asked, batcher } = slow()
    const answers = Promise.all([1, 2, 3, 4].map((question) => batcher.ask(question)))
    expect(asked.map(({ questions }) => questions)).toEqual([[1]])
    asked[0]?.end()
    await Bun.sleep(0)
    expect(asked.map(({ questions }) => questions)).toEqual([[1], [2, 3, 4]])
    asked[1]?.end()
    expect(await answers).toEqual([2, 4, 6, 8])
  })

  test('fail together, and those after them do not', async () => {
    const { asked, batcher } = slow()
    const first = batcher.ask(1)
    const others = Promise.allSettled([batcher.ask(2), batcher.ask(3)])
    asked[0]?.end()
    await first
    await Bun.sleep(0)
    const last = batcher.ask(4)
    asked[1]?.end(new Error('away'))
    expect((await others).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await Bun.sleep(0)
    asked[2]?.end()
    expect(await last).toBe(8)
  })

  test('do not wait for one that takes long', async () => {
    const { asked, batcher } = slow()
    const stuck = batcher.ask(1)
    const behind = batcher.ask(2)
    await Bun.sleep(50)
    const later = batcher.ask(3)
    expect(asked.map(({ questions }) => questions)).toEqual([[1], [2, 3]])
    asked[1]?.end()
    expect(await Promise.all([behind, later])).toEqual([4, 6])
    asked[0]?.end()
    expect(await stuck).toBe(2)
  })

  test('go in parts when they are many', async () => {
    const { asked, batcher } = slow()
    const answers = Promise.all(Array.from({ length: 600 }, (_, index) => batcher.ask(index)))
    for (let at = 0; at < 4; at++) {
      asked[at]?.end()
      await Bun.sleep(0)
    }
    expect(asked.map(({ questions }) => questions.length)).toEqual([1, 256, 256, 87])
    expect(await answers).toEqual(Array.from({ length: 600 }, (_, index) => 2 * index))
  })
})

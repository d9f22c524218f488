import { describe, expect, test } from 'bun:test'
import { isUniqueViolation } from '../../../src/database/differences.ts'
import { prepared, preparedChange, preparedRows } from '../../../src/database/prepared.ts'
import { inTransaction, together } from '../../../src/database/transactions.ts'
import { databases } from '../../support/databases/databases.ts'

const valueFor = prepared((db, key: string) => db.selectFrom('meta').select('value').where('key', '=', key))

const insertValue = preparedChange((db, key: string, value: string) =>
  db.insertInto('meta').values({ key, value }).returning('key'),
)

const changeValue = preparedChange((db, value: string, key: string) =>
  db.updateTable('meta').set({ value }).where('key', '=', key),
)

const insertRows = preparedRows((db, rows: readonly { readonly key: string; readonly value: string }[]) =>
  db.insertInto('meta').values(rows).returning('key'),
)

describe.each(databases('prepared queries'))('on %s', (_, open) => {
  test('prepared queries take other arguments each time, and see what their transaction has done', async () => {
    await using it = await open()
    await inTransaction(it.db, async (trx) => {
      expect(await insertValue(trx, 'one', 'a')).toEqual({ rows: [{ key: 'one' }], changed: 1 })
      expect(await insertValue(trx, 'two', 'b')).toEqual({ rows: [{ key: 'two' }], changed: 1 })
      expect(await valueFor(trx, 'two')).toEqual([{ value: 'b' }])
      expect(await changeValue(trx, 'c', 'two')).toEqual({ rows: [], changed: 1 })
      expect(await changeValue(trx, 'c', 'three')).toEqual({ rows: [], changed: 0 })
    })
    expect(await valueFor(it.db, 'one')).toEqual([{ value: 'a' }])
    expect(await valueFor(it.db, 'two')).toEqual([{ value: 'c' }])
    expect(await valueFor(it.db, 'three')).toEqual([])
  })

  test('prepared and other statements of a transaction go together, also when it fails', async () => {
    await using it = await open()
    const failing = inTransaction(it.db, async (trx) => {
      await insertValue(trx, 'one', 'a')
      await trx.updateTable('meta').set({ value: 'b' }).where('key', '=', 'one').execute()
      expect(await valueFor(trx, 'one')).toEqual([{ value: 'b' }])
      await insertRows(trx, [{ key: 'two', value: 'c' }])
      expect(await valueFor(it.db, 'one')).toEqual([])
      throw new Error('changed its mind')
    })
    await expect(failing).rejects.toThrow('changed its mind')
    expect(await valueFor(it.db, 'one')).toEqual([])
    expect(await valueFor(it.db, 'two')).toEqual([])
  })

  test('rows are prepared for lists of any length, with their columns in any order', async () => {
    await using it = await open()
    expect(await insertRows(it.db, [])).toEqual([])
    expect(await insertRows(it.db, [{ key: 'one', value: 'a' }])).toEqual([{ key: 'one' }])
    expect(await insertRows(it.db, [{ value: 'b', key: 'two' }])).toEqual([{ key: 'two' }])
    const more = Array.from({ length: 40 }, (_, at) => ({ key: `more ${at}`, value: String(at) }))
    for (let at = 0; at < more.length; at += 20) {
      expect(await insertRows(it.db, more.slice(at, at + 20))).toHaveLength(20)
    }
    expect(await valueFor(it.db, 'two')).toEqual([{ value: 'b' }])
    expect(await valueFor(it.db, 'more 37')).toEqual([{ value: '37' }])
  })

  test('statements that are sent together go in their order, and the first to fail is the one that is told', async () => {
    await using it = await open()
    const values = await inTransaction(it.db, async (trx) => {
      const [, before, , after] = await together(
        insertValue(trx, 'one', 'a'),
        valueFor(trx, 'one'),
        changeValue(trx, 'b', 'one'),
        valueFor(trx, 'one'),
      )
      return [...before, ...after]
    })
    expect(values).toEqual([{ value: 'a' }, { value: 'b' }])
    const failing = inTransaction(it.db, (trx) =>
      together(insertValue(trx, 'two', 'c'), insertValue(trx, 'one', 'c'), insertValue(trx, 'three', 'c')),
    )
    const error = await failing.catch((failure: unknown) => failure)
    expect(isUniqueViolation(error)).toBe(true)
    expect(await valueFor(it.db, 'two')).toEqual([])
    expect(await valueFor(it.db, 'three')).toEqual([])
  })

  test('a query whose parameters are not its arguments in their order is refused at once', async () => {
    await using it = await open()
    const swapped = preparedChange((db, key: string, value: string) =>
      db.updateTable('meta').set({ value }).where('key', '=', key),
    )
    const constant = prepared((db) => db.selectFrom('meta').select('value').where('key', '=', 'one'))
    await expect(swapped(it.db, 'one', 'd')).rejects.toThrow('differ from its arguments')
    await expect(constant(it.db)).rejects.toThrow('differ from its arguments')
  })
})

import { describe, expect, test } from 'bun:test'
import { prepared, preparedChange, preparedInsert } from '../../src/database/prepared.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import { databases } from '../support/databases/databases.ts'

const valueFor = prepared((db, key: string) => db.selectFrom('meta').select('value').where('key', '=', key))

const insertValue = preparedChange((db, key: string, value: string) =>
  db.insertInto('meta').values({ key, value }).returning('key'),
)

const changeValue = preparedChange((db, value: string, key: string) =>
  db.updateTable('meta').set({ value }).where('key', '=', key),
)

const insertRow = preparedInsert((db, row: { readonly key: string; readonly value: string }) =>
  db.insertInto('meta').values(row).returning('key'),
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
      await insertRow(trx, { key: 'two', value: 'c' })
      expect(await valueFor(it.db, 'one')).toEqual([])
      throw new Error('changed its mind')
    })
    await expect(failing).rejects.toThrow('changed its mind')
    expect(await valueFor(it.db, 'one')).toEqual([])
    expect(await valueFor(it.db, 'two')).toEqual([])
  })

  test('a prepared insert takes its columns by name, in whatever order they come', async () => {
    await using it = await open()
    expect(await insertRow(it.db, { key: 'one', value: 'a' })).toEqual([{ key: 'one' }])
    expect(await insertRow(it.db, { value: 'b', key: 'two' })).toEqual([{ key: 'two' }])
    expect(await valueFor(it.db, 'two')).toEqual([{ value: 'b' }])
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

/** What the promises about power cuts and about large accounts rest on, of a database that was opened. */
import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { nameHolds } from '../../src/database/differences.ts'
import { placedFiles } from '../../src/database/files.ts'
import { GUESTS } from '../../src/domain/ids.ts'
import { sqliteDatabase } from '../support/databases.ts'

test.each([
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['foreign_keys', 1],
])('%s is %s', async (name, value) => {
  await using database = await sqliteDatabase()
  const { rows } = await sql`pragma ${sql.raw(name)}`.execute(database.db)
  expect(rows).toEqual([{ [name]: value }])
})

// The folder of the guests is there.
test('a row that points to none is refused', async () => {
  await using database = await sqliteDatabase()
  await expect(sql`update folders set parent_id = 999999999`.execute(database.db)).rejects.toThrow(
    /FOREIGN KEY/,
  )
})

// Else each of a million rows would be looked up for it.
test('all names of an account are read from an index that holds them', async () => {
  await using database = await sqliteDatabase()
  const { db } = database
  const names = placedFiles(db, { account: GUESTS, folder: null }, false).where(nameHolds(db, 'needle'))
  const counted = names.select(sql<number>`count(*)`.as('total'))
  const { rows: plan } = await sql<{ detail: string }>`explain query plan select * from ${counted}`.execute(
    db,
  )
  const [, index = ''] = /INDEX (\w+)/.exec(plan.map(({ detail }) => detail).join()) ?? []
  const { rows: columns } = await sql<{ name: string }>`pragma index_info(${sql.raw(index)})`.execute(db)
  expect({ index, columns: columns.map(({ name }) => name) }).toEqual({
    index: expect.stringMatching(/^files_/),
    columns: expect.arrayContaining(['account_id', 'name_folded']),
  })
})

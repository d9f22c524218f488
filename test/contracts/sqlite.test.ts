/** What the promises about power cuts rest on, of a database that was opened. */
import { expect, test } from 'bun:test'
import { sql } from 'kysely'
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

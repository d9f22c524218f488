import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'kysely'
import { setMeta } from '../../../src/core/meta.rows.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

async function opened() {
  const folder = temporaryFolder()
  const path = join(folder.path, 'test.sqlite')
  const db = openSqlite(path)
  await migrate(db)
  const other = new Database(path)
  return {
    db,
    other,
    async value() {
      const rows = await db.read.rows(db.selectFrom('meta').select('value').where('key', '=', 'k'))
      return rows[0]?.value
    },
    async [Symbol.asyncDispose]() {
      other.close()
      await db.destroy()
      folder[Symbol.dispose]()
    },
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a direct read sees what this process has just committed, and no more', async () => {
  await using it = await opened()
  expect(await it.value()).toBeUndefined()
  await inTransaction(it.db, async (trx) => {
    await setMeta(trx, 'k', 'ours')
    expect(await it.value()).toBeUndefined()
  })
  expect(await it.value()).toBe('ours')
})

test('a direct read sees from the next turn on what another process has committed', async () => {
  await using it = await opened()
  const before = it.db.read.version()
  expect(await it.value()).toBeUndefined()
  it.other.run(`insert into meta (key, value) values ('k', 'theirs')`)
  await nextTurn()
  expect(await it.value()).toBe('theirs')
  expect(it.db.read.version()).not.toBe(before)
})

test('a direct read goes on after SQLite has ended its transaction, as it does where the disk could not be read', async () => {
  await using it = await opened()
  expect(await it.value()).toBeUndefined()
  await it.db.read.rows(sql`rollback`.compile(it.db))
  await inTransaction(it.db, (trx) => setMeta(trx, 'k', 'ours'))
  expect(await it.value()).toBe('ours')
  await it.db.read.rows(sql`rollback`.compile(it.db))
  await nextTurn()
  expect(await it.value()).toBe('ours')
})

test('direct reads hold nobody up: the log is emptied between two of them', async () => {
  await using it = await opened()
  await it.value()
  await nextTurn()
  it.other.run(`insert into meta (key, value) values ('k', 'theirs')`)
  expect(it.other.query('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0, log: 0 })
})

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { ensureGuests } from '../../src/core/accounts.rows.ts'
import type { Database as AnyDatabase } from '../../src/database/database.ts'
import { DatabaseTooNew, MIGRATIONS, migrate, missingMigrations } from '../../src/database/migrate.ts'
import { initial } from '../../src/database/migrations/001-initial.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { makeOldDatabase, OLDEST } from '../support/databases/old-database.ts'
import { createDatabase, whyNoPostgres } from '../support/databases/postgres.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { unsoundTotals } from '../support/storage/soundness.ts'

/** A database of the first version: folders a > b > c, d deleted, with files of 1, 10, 100 and 1000 bytes. */
function writeFirstVersion(path: string): void {
  const file = new Database(path, { create: true })
  file.run('pragma journal_mode = wal')
  for (const statement of initial) file.run(statement)
  file.run('create table meta (key text primary key, value text not null)')
  file.run("insert into meta values ('version', '1')")
  file.run(
    "insert into accounts (id, username, created_at, storage_used, files_count) values (1, 'ann', 0, 111, 3)",
  )
  file.run("insert into api_keys (account_id, name, prefix, hash, created_at) values (1, 'k', 'hf_', 'h', 0)")
  const folders = [
    [1, null, '', null],
    [2, 1, 'a', null],
    [3, 2, 'b', null],
    [4, 3, 'c', null],
    [5, 1, 'd', 7],
  ] as const
  for (const [id, parent, name, deleted] of folders) {
    file.run(
      'insert into folders (id, identifier, account_id, parent_id, name, is_public, created_at, deleted_at) values (?, ?, 1, ?, ?, 1, 0, ?)',
      [id, `folder${id}`, parent, name, deleted],
    )
  }
  file.run(
    "insert into blobs (id, key, sha256, crc32, size, refs, created_at) values (1, 'k', 's', 0, 1, 4, 0)",
  )
  const files = [
    [2, 1, null],
    [4, 10, null],
    [1, 100, null],
    [4, 1000, 7],
  ] as const
  for (const [index, [folder, size, removed]] of files.entries()) {
    file.run(
      `insert into files (uuid, slug, account_id, folder_id, blob_id, name, name_folded, size, type, created_at, last_used_at, removed_at, removal)
       values (?, ?, 1, ?, 1, 'n', 'n', ?, 't', 0, 0, ?, ?)`,
      [`u${index}`, `s${index}`, folder, size, removed, removed === null ? null : 'expired'],
    )
  }
  file.close()
}

describe('a SQLite database of the first version', () => {
  test('gets the sums of its trees, what was deleted counts as cleared, and its keys keep everything', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'holdfast.sqlite')
    writeFirstVersion(path)
    const db = openSqlite(path)
    expect(await missingMigrations(db)).toBe(MIGRATIONS - 1)
    await migrate(db)
    const keys = await db.selectFrom('api_keys').select(['scopes', 'folder', 'expires_at']).execute()
    expect(keys).toEqual([{ scopes: 'read upload manage', folder: null, expires_at: null }])
    const sums = await db
      .selectFrom('folders')
      .select(['id', 'tree_files', 'tree_bytes', 'tree_folders', 'tree_height', 'cleared_at'])
      .orderBy('id')
      .execute()
    await db.destroy()
    expect(sums.map((row) => Object.values(row))).toEqual([
      [1, 3, 111, 3, 3, null],
      [2, 2, 11, 2, 2, null],
      [3, 1, 10, 1, 1, null],
      [4, 1, 10, 0, 0, null],
      [5, 0, 0, 0, 0, 7],
    ])
  })
})

const reason = whyNoPostgres()
if (reason !== null) console.error(`Not run: migrations of PostgreSQL. ${reason}`)

test.skipIf(reason === null || process.env.CI !== 'true')('PostgreSQL for these tests is there', () => {
  expect(reason).toBeNull()
})

describe('a database of any earlier version', () => {
  const versions = Array.from({ length: MIGRATIONS - OLDEST }, (_, number) => OLDEST + number)

  async function goesOn(db: AnyDatabase, version: number): Promise<void> {
    await makeOldDatabase(db, 200)
    await migrate(db, version)
    await migrate(db)
    expect(await missingMigrations(db)).toBe(0)
    expect(await unsoundTotals(db)).toEqual([])
    const files = await db.selectFrom('files').select('id').execute()
    expect(files).toHaveLength(200)
  }

  test.each(versions)('of SQLite, as %d, is migrated with all it has', async (version) => {
    using folder = temporaryFolder()
    await using stack = new AsyncDisposableStack()
    await goesOn(
      stack.adopt(openSqlite(join(folder.path, 'holdfast.sqlite')), (it) => it.destroy()),
      version,
    )
  })

  test.skipIf(reason !== null)(
    'of PostgreSQL, one after the other, is migrated with all it has',
    async () => {
      await using stack = new AsyncDisposableStack()
      const database = stack.adopt(await createDatabase(), (it) => it.drop())
      const options = { connections: 1, durable: false, report() {} }
      const db = stack.adopt(openPostgres(database.url, options), (it) => it.destroy())
      await makeOldDatabase(db, 200)
      for (const version of versions) await migrate(db, version + 1)
      expect(await missingMigrations(db)).toBe(0)
      expect(await unsoundTotals(db)).toEqual([])
      expect(await db.selectFrom('files').select('id').execute()).toHaveLength(200)
    },
  )
})

test('a SQLite database that is newer than the program is refused, one of its own version left as it is', async () => {
  using folder = temporaryFolder()
  await using stack = new AsyncDisposableStack()
  const db = stack.adopt(openSqlite(join(folder.path, 'holdfast.sqlite')), (it) => it.destroy())
  expect(await missingMigrations(db)).toBe(MIGRATIONS)
  await migrate(db)
  await migrate(db)
  expect(await missingMigrations(db)).toBe(0)
  await db
    .updateTable('meta')
    .set({ value: String(MIGRATIONS + 1) })
    .where('key', '=', 'version')
    .execute()
  await expect(migrate(db)).rejects.toThrow(DatabaseTooNew)
  await expect(missingMigrations(db)).rejects.toThrow(DatabaseTooNew)
})

describe.skipIf(reason !== null)('PostgreSQL', () => {
  const options = { connections: 2, durable: true, report() {} }

  test('nodes that start together on an empty database migrate it once', async () => {
    await using stack = new AsyncDisposableStack()
    const database = stack.adopt(await createDatabase(), (it) => it.drop())
    const nodes = Array.from({ length: 5 }, () =>
      stack.adopt(openPostgres(database.url, options), (db) => db.destroy()),
    )
    await Promise.all(
      nodes.map(async (db) => {
        await migrate(db)
        await ensureGuests(db, systemRandom, Date.now())
      }),
    )
    const [db] = nodes
    if (db === undefined) throw new Error('there are no nodes')
    expect(await missingMigrations(db)).toBe(0)
    expect(await db.selectFrom('accounts').select('id').execute()).toHaveLength(1)
  })

  test('a database that is newer than the program is refused', async () => {
    await using stack = new AsyncDisposableStack()
    const database = stack.adopt(await createDatabase(), (it) => it.drop())
    const db = stack.adopt(openPostgres(database.url, options), (it) => it.destroy())
    await migrate(db)
    await db.updateTable('meta').set({ value: '999' }).where('key', '=', 'version').execute()
    await expect(migrate(db)).rejects.toThrow(DatabaseTooNew)
  })
})

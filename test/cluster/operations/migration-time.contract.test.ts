/** How long migrations would take is measured on a copy that has all rows, and of which nothing is left. */
// Only in test:all: copies in PostgreSQL; test/server/cli/migrate.test.ts has one of SQLite.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { loadConfig } from '../../../src/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate, migrations, missingMigrations } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import {
  copyTableRows,
  currentSchema,
  dropSchema,
  makeSchema,
  measureMigrations,
} from '../../../src/operations/migration-time.ts'
import { openCopy } from '../../../src/storage.ts'
import { madeUpOf, withNextVersion } from '../../support/databases/next-version.ts'
import { OLDEST } from '../../support/databases/old-database.ts'
import { createDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

let next: Disposable
beforeAll(() => {
  next = withNextVersion()
})
afterAll(() => next[Symbol.dispose]())

/** A folder with a file, and another one in the bin: tables that refer to each other in circles. */
async function makeOld(db: Database): Promise<void> {
  await migrate(db, OLDEST)
  const rows = [
    "insert into accounts (id, username, name_sort, created_at) values (7, 'ann', 'ann', 0)",
    "insert into folders (id, identifier, account_id, parent_id, name, name_sort, is_public, created_at) values (3, 'top', 7, null, '', '', 0, 0)",
    "insert into folders (id, identifier, account_id, parent_id, name, name_sort, is_public, created_at, deleted_at, cleared_at, bin_id) values (4, 'in bin', 7, 3, 'in bin', 'in bin', 0, 0, 5, 5, 9)",
    'insert into bin (id, account_id, folder_id, bytes, files, binned_at) values (9, 7, 4, 0, 0, 5)',
    "insert into blobs (id, key, sha256, crc32, size, refs, created_at) values (2, 'key', 'hash', 0, 10, 1, 0)",
    "insert into files (id, uuid, slug, account_id, folder_id, blob_id, name, name_folded, name_sort, size, type, created_at, last_used_at) values (8, 'uuid', 'slug', 7, 3, 2, 'file 10', 'file 10', 'file 210', 10, 'text/plain', 0, 0)",
  ]
  for (const row of rows) await sql.raw(row).execute(db)
}

function partsOf(environment: Readonly<Record<string, string>>) {
  return { config: loadConfig(environment), clock: systemClock, random: systemRandom }
}

test('of SQLite, in the folder of the database', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  mkdirSync(dataDir)
  const db = openSqlite(join(dataDir, 'holdfast.sqlite'))
  await makeOld(db)
  const begun: number[] = []
  const found = await measureMigrations(partsOf({ HOLDFAST_DATA_DIR: dataDir }), (bytes) => begun.push(bytes))
  expect(found).toEqual({ kind: 'measured', copying: expect.any(Number), migrating: expect.any(Number) })
  expect(begun).toEqual([expect.any(Number)])
  expect(begun[0]).toBeGreaterThan(10_000)
  expect(await missingMigrations(db)).toBe(migrations.length - OLDEST)
  await db.destroy()
  expect(readdirSync(dataDir)).toEqual(['holdfast.sqlite'])
})

const reason = whyNoPostgres()
describe.skipIf(reason !== null)('of PostgreSQL', () => {
  async function withOld(use: (db: Database, url: string) => Promise<void>): Promise<void> {
    await using stack = new AsyncDisposableStack()
    const database = stack.adopt(await createDatabase(), (it) => it.drop())
    const options = { connections: 2, durable: true, report() {} }
    const db = stack.adopt(openPostgres(database.url, options), (it) => it.destroy())
    await makeOld(db)
    await use(db, database.url)
  }

  const schemas = async (db: Database) => {
    const { rows } = await sql<{ name: string }>`
      select nspname as name from pg_namespace where nspname like 'holdfast%'`.execute(db)
    return rows.map(({ name }) => name)
  }

  /** Of the tables, columns, indexes and constraints that a server uses. */
  async function definitions(db: Database): Promise<readonly string[]> {
    const { rows } = await sql<{ text: string }>`
      select table_name || '.' || column_name || ' ' || data_type as text from information_schema.columns
        where table_schema = current_schema()
      union all select indexdef from pg_indexes where schemaname = current_schema()
      union all select conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
        where connamespace = current_schema()::regnamespace
      order by text`.execute(db)
    return rows.map(({ text }) => text)
  }

  test('in a schema of its own, also after a run that was killed', () =>
    withOld(async (db, url) => {
      await sql`create schema holdfast_migration_copy`.execute(db)
      await sql`create table holdfast_migration_copy.meta (key text)`.execute(db)
      const before = await definitions(db)
      const found = await measureMigrations(partsOf({ HOLDFAST_DATABASE_URL: url }), () => {})
      expect(found.kind).toBe('measured')
      expect(await schemas(db)).toEqual([])
      expect(before.length).toBeGreaterThan(100)
      expect(await definitions(db)).toEqual(before)
      expect(await missingMigrations(db)).toBe(migrations.length - OLDEST)
      const { rows } = await sql<{ id: number }>`select id from files`.execute(db)
      expect(rows).toEqual([{ id: 8 }])
    }))

  test('on all rows, with the same keys between tables, and numbers that go on', () =>
    withOld(async (db, url) => {
      const source = await currentSchema(db)
      const copy = await openCopy(url, 'holdfast_other', source)
      try {
        await makeSchema(copy, 'holdfast_other')
        await migrate(copy, OLDEST)
        await copyTableRows(copy, source, 'holdfast_other')
        await migrate(copy)
        const { rows: files } = await sql`select id, name, folder_id, made_up from files`.execute(copy)
        expect(files).toEqual([{ id: 8, name: 'file 10', folder_id: 3, made_up: madeUpOf('file 10') }])
        const inserted = await sql<{ id: number }>`
          insert into accounts (username, name_sort, created_at) values ('bea', 'bea', 0) returning id`.execute(
          copy,
        )
        expect(inserted.rows).toEqual([{ id: 8 }])
        await expect(sql`update files set folder_id = 99`.execute(copy)).rejects.toThrow('foreign key')
        const { rows: left } = await sql<{ count: number }>`
          select count(*) as count from pg_constraint where contype = 'f'
          and connamespace = ${await currentSchema(copy)}::regnamespace`.execute(copy)
        await migrate(db)
        const { rows: wanted } = await sql<{ count: number }>`
          select count(*) as count from pg_constraint where contype = 'f'
          and connamespace = ${source}::regnamespace`.execute(db)
        expect(left).toEqual(wanted)
      } finally {
        await dropSchema(copy, 'holdfast_other')
        await copy.destroy()
      }
    }))
})

/** What the promises about power cuts and about large accounts rest on, of a database that was opened. */
import { expect, test } from 'bun:test'
import { type Compilable, type CompiledQuery, type KyselyPlugin, type RootOperationNode, sql } from 'kysely'
import { pageOfAccounts } from '../../../src/accounts/account-administration.ts'
import type { Database } from '../../../src/database/database.ts'
import { nameContains } from '../../../src/database/differences.ts'
import { type FileId, type FolderId, GUESTS } from '../../../src/domain/ids.ts'
import { archiveFilesAfter } from '../../../src/downloads/zip/archive.rows.ts'
import { type FileSortField, listFiles, placedFiles } from '../../../src/files/file-lists.rows.ts'
import { subfolderPage } from '../../../src/files/folders/folders.rows.ts'
import { sqliteDatabase } from '../../support/databases/databases.ts'
import { pluggedDatabase } from '../../support/databases/plugged-database.ts'

test.each([
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['foreign_keys', 1],
  ['page_size', 2048],
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
  const names = placedFiles(db, { account: GUESTS, folder: null }, false).where(nameContains(db, 'needle'))
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

/** How SQLite answers the queries that are asked meanwhile. */
async function plansOf(db: Database, ask: (db: Database) => Promise<unknown>): Promise<string[]> {
  const asked: RootOperationNode[] = []
  const listening: KyselyPlugin = {
    transformQuery({ node }) {
      asked.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const plugged = pluggedDatabase(db, listening)
  const own = plugged.read
  const read: Database['read'] = {
    ...own,
    // Compiled once a process, maybe by a test before: then no plugin sees it.
    rows<Row>(query: Compilable<Row> | CompiledQuery<Row>) {
      if ('query' in query) asked.push(query.query)
      return own.rows(query)
    },
  }
  await ask(Object.assign(plugged, { read }))
  const executor = db.getExecutor()
  const plans: string[] = []
  for (const node of asked) {
    const query = executor.compileQuery(node, { queryId: String(plans.length) })
    const { rows } = await db.executeQuery<{ detail: string }>({
      ...query,
      sql: `explain query plan ${query.sql}`,
    })
    plans.push(rows.map(({ detail }) => detail).join('\n'))
  }
  return plans
}

const FOLDER = 1 as FolderId
const files = (sort: FileSortField, order: 'asc' | 'desc', folder: FolderId | null) => (db: Database) =>
  listFiles(db, { account: GUESTS, folder, sort, order, offset: 10, limit: 100 })
const folders = (sort: 'name' | 'created_at', publicOnly: boolean) => (db: Database) =>
  subfolderPage(db, { parent: FOLDER, publicOnly, sort, order: 'desc', offset: 10, limit: 100 })
const met = { name_sort: 'a', name_folded: 'a', id: 1 as FileId }

const lists: readonly (readonly [string, (db: Database) => Promise<unknown>, string])[] = [
  ['files by name', files('name', 'asc', null), 'files_by_name'],
  ['files by name, backwards', files('name', 'desc', null), 'files_by_name'],
  ['files by age', files('created_at', 'desc', null), 'files_by_age'],
  ['files by size', files('size', 'desc', null), 'files_by_size'],
  ['files by downloads', files('downloads', 'desc', null), 'files_by_downloads'],
  ['the files of a folder by name', files('name', 'asc', FOLDER), 'folder_files_by_name'],
  ['the files of a folder by name, backwards', files('name', 'desc', FOLDER), 'folder_files_by_name'],
  ['the folders in a folder by name', folders('name', false), 'folders_by_name'],
  ['the public folders in a folder by name', folders('name', true), 'folders_by_name'],
  [
    'accounts by name',
    (db) =>
      pageOfAccounts(db, { search: '', state: 'all', sort: 'username', order: 'asc', offset: 0, limit: 9 }),
    'accounts_by_name',
  ],
  ['the files of a zip', (db) => archiveFilesAfter(db, FOLDER, met, 500), 'folder_files_by_name'],
]

// Else a page of a million rows would wait for all of them to be sorted.
test.each(lists)('%s come from an index that is in this order', async (_, list, index) => {
  await using database = await sqliteDatabase()
  const plans = await plansOf(database.db, list)
  const [plan = ''] = plans.slice(-1)
  expect(plan).toMatch(new RegExp(`INDEX ${index}\\b`))
  // The one page that was cut out may be sorted once more.
  expect(plan.split('TEMP B-TREE').length, plan).toBe(plan.split('LIST SUBQUERY').length)
})

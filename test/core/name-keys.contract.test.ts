/** An upgrade of a database whose names have no keys yet, on SQLite and PostgreSQL. */
import { describe, expect, test } from 'bun:test'
import { pageOfAccounts } from '../../src/accounts/all-accounts.rows.ts'
import { topFolder } from '../../src/core/accounts.rows.ts'
import { createNameKeys } from '../../src/core/name-keys.job.ts'
import { fillKeysIn, rowsWithoutKey } from '../../src/core/name-keys.rows.ts'
import type { Database } from '../../src/database/database.ts'
import { isPostgres } from '../../src/database/dialect.ts'
import { migrate } from '../../src/database/migrate.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import { systemTimers } from '../../src/domain/clock.ts'
import { foldName } from '../../src/domain/folded-name.ts'
import type { AccountId, BlobId, BlobKey, FileId, FolderId, Sha256 } from '../../src/domain/ids.ts'
import {
  makeBlobKey,
  makeFolderIdentifier,
  makeSlug,
  makeUuid,
  systemRandom,
} from '../../src/domain/random.ts'
import { listFiles } from '../../src/files/file-lists.rows.ts'
import { insertFile, renameFile } from '../../src/files/files.rows.ts'
import { subfolderPage } from '../../src/files/folders/subfolders.rows.ts'
import { earlierDatabases } from '../support/databases/databases.ts'

/** The last version whose names had no keys. */
const BEFORE = 20
const FILES = 20_000
const FOLDERS = 1000
const ACCOUNTS = 300
const AT_ONCE = 500

/** In the order of their numbers these names are sorted naturally; by their characters they are not. */
const fileName = (at: number) => (at % 2 === 0 ? `Photo ${at}.jpg` : `photo ${at}.JPG`)
const folderName = (at: number) => `${at % 2 === 0 ? 'Äpfel' : 'apfel'} ${at}`
const accountName = (at: number) => `user${at}`

/** So that rows do not lie in the order that is asked for. 7919 is a prime. */
const shuffled = (at: number, count: number) => (at * 7919) % count

interface Old {
  readonly account: AccountId
  readonly top: FolderId
  readonly blob: BlobId
}

function fileRow({ account, top, blob }: Old, name: string) {
  return {
    uuid: makeUuid(systemRandom),
    slug: makeSlug(systemRandom),
    account_id: account,
    folder_id: top,
    blob_id: blob,
    name,
    name_folded: foldName(name),
    size: 1,
    type: 'image/jpeg',
    created_at: 0,
    last_used_at: 0,
  }
}

/** As the version without keys has written them. */
async function fill(db: Database, files = FILES, folders = FOLDERS): Promise<Old> {
  const folderRow = (account_id: AccountId, parent_id: FolderId | null, name: string) => ({
    identifier: makeFolderIdentifier(systemRandom),
    account_id,
    parent_id,
    name,
    is_public: 1 as const,
    created_at: 0,
  })
  return inTransaction(db, async (trx) => {
    const accounts = await trx
      .insertInto('accounts')
      .values(
        Array.from({ length: ACCOUNTS }, (_, at) => ({
          username: accountName(shuffled(at, ACCOUNTS)),
          created_at: 0,
        })),
      )
      .returning('id')
      .execute()
    const account = accounts[0]?.id
    if (account === undefined) throw new Error('there is no account')
    await trx
      .insertInto('folders')
      .values(folderRow(account, null, ''))
      .execute()
    const top = await topFolder(trx, account)
    for (let from = 0; from < folders; from += AT_ONCE) {
      const names = Array.from({ length: AT_ONCE }, (_, at) => folderName(shuffled(from + at, FOLDERS)))
      await trx
        .insertInto('folders')
        .values(names.map((name) => folderRow(account, top, name)))
        .execute()
    }
    const key: BlobKey = makeBlobKey(systemRandom)
    const { id: blob } = await trx
      .insertInto('blobs')
      .values({ key, sha256: 'f'.repeat(64) as Sha256, crc32: 0, size: 1, refs: FILES, created_at: 0 })
      .returning('id')
      .executeTakeFirstOrThrow()
    const old = { account, top, blob }
    for (let from = 0; from < files; from += AT_ONCE) {
      const names = Array.from({ length: AT_ONCE }, (_, at) => fileName(shuffled(from + at, FILES)))
      await trx
        .insertInto('files')
        .values(names.map((name) => fileRow(old, name)))
        .execute()
    }
    return old
  })
}

type Order = 'asc' | 'desc'

/** All there are, in pages. */
async function pages<Row>(page: (offset: number, limit: number) => Promise<Row[]>): Promise<Row[]> {
  const all: Row[] = []
  for (;;) {
    const rows = await page(all.length, 5000)
    all.push(...rows)
    if (rows.length < 5000) return all
  }
}

async function names(db: Database, { account, top }: Old, where: 'account' | 'folder', order: Order = 'asc') {
  const folder = where === 'folder' ? top : null
  const rows = await pages((offset, limit) =>
    listFiles(db, { account, folder, sort: 'name', order, offset, limit }),
  )
  return rows.map(({ name }) => name)
}

async function subfolders(db: Database, { top }: Old, order: Order = 'asc') {
  const rows = await pages((offset, limit) =>
    subfolderPage(db, { parent: top, publicOnly: false, sort: 'name', order, offset, limit }),
  )
  return rows.map(({ name }) => name)
}

async function accountNames(db: Database, order: Order = 'asc') {
  const rows = await pages((offset, limit) =>
    pageOfAccounts(db, { search: '', state: 'all', sort: 'username', order, offset, limit }),
  )
  return rows.map(({ username }) => username)
}

const numbered = (count: number, name: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => name(at))

/** Runs so many steps. */
const steps = (count: number) => {
  let left = count
  return () => left-- > 0
}

describe.each(earlierDatabases('keys of names', BEFORE))('on %s', (_, open) => {
  test('20,000 names of an earlier version are listed from the first moment, and naturally in the end', async () => {
    await using it = await open()
    const { db } = it
    const old = await fill(db)
    await migrate(db)
    const keys = createNameKeys(db, systemTimers)
    const inOldOrder = numbered(FILES, fileName).toSorted((a, b) => (foldName(a) < foldName(b) ? -1 : 1))
    const natural = numbered(FILES, fileName)

    expect(await names(db, old, 'account')).toEqual(inOldOrder)
    expect(await names(db, old, 'folder', 'desc')).toEqual(inOldOrder.toReversed())
    expect((await subfolders(db, old)).length).toBe(FOLDERS)

    // Some have their keys: they come behind the others, which are as before, and each is there once.
    await keys.run(steps(FILES / 80))
    const inBetween = await names(db, old, 'account')
    const unkeyed = await db
      .selectFrom('files')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('name_sort', '=', '')
      .executeTakeFirstOrThrow()
    expect(unkeyed.count).toBeGreaterThan(0)
    expect(unkeyed.count).toBeLessThan(FILES)
    expect(inBetween.slice(0, unkeyed.count)).toEqual(inOldOrder.slice(0, unkeyed.count))
    const keyed = new Set(inOldOrder.slice(unkeyed.count))
    expect(inBetween.slice(unkeyed.count)).toEqual(natural.filter((name) => keyed.has(name)))

    await keys.run()
    expect(await names(db, old, 'account')).toEqual(natural)
    expect(await names(db, old, 'account', 'desc')).toEqual(natural.toReversed())
    expect(await names(db, old, 'folder')).toEqual(natural)
    expect(await subfolders(db, old)).toEqual(numbered(FOLDERS, folderName))
    expect(await subfolders(db, old, 'desc')).toEqual(numbered(FOLDERS, folderName).toReversed())
    expect(await accountNames(db)).toEqual(numbered(ACCOUNTS, accountName))
    expect(await accountNames(db, 'desc')).toEqual(numbered(ACCOUNTS, accountName).toReversed())
  }, 300_000)

  test('what an older node writes beside a newer one gets its place as well', async () => {
    await using it = await open()
    const { db } = it
    const old = await fill(db, 0, 0)
    await migrate(db)
    const keys = createNameKeys(db, systemTimers)
    await keys.run()
    const ids: FileId[] = []
    for (const name of ['file 10', 'file 9', 'file 2']) {
      ids.push(await inTransaction(db, (trx) => insertFile(trx, fileRow(old, name))))
    }
    const [ten, nine] = ids
    if (ten === undefined || nine === undefined) throw new Error('there are no files')
    await inTransaction(db, (trx) => renameFile(trx, nine, 'file 09'))
    expect(await names(db, old, 'account')).toEqual(['file 2', 'file 09', 'file 10'])

    await db.insertInto('files').values(fileRow(old, 'file 3')).execute()
    // SQLite has no older node beside it.
    const other = isPostgres(db) ? 'file 1' : 'file 10'
    if (isPostgres(db)) {
      const renamed = { name: other, name_folded: other }
      await db.updateTable('files').set(renamed).where('id', '=', ten).execute()
    }
    expect((await names(db, old, 'folder')).toSorted()).toEqual(
      ['file 2', 'file 3', 'file 09', other].toSorted(),
    )
    await keys.run()
    const expected = isPostgres(db)
      ? ['file 1', 'file 2', 'file 3', 'file 09']
      : ['file 2', 'file 3', 'file 09', 'file 10']
    expect(await names(db, old, 'account')).toEqual(expected)
  })

  test('a file that is renamed while it waits for its key gets that of its new name', async () => {
    await using it = await open()
    const { db } = it
    const old = await fill(db, 0, 0)
    await migrate(db)
    await db.insertInto('files').values(fileRow(old, 'b')).execute()
    const rows = await rowsWithoutKey(db, 'files', null, 10)
    const [row] = rows
    if (row === undefined) throw new Error('no key is wanting')
    await db
      .updateTable('files')
      .set({ name: 'c', name_folded: 'c' })
      .where('id', '=', row.id as FileId)
      .execute()
    expect(await inTransaction(db, (trx) => fillKeysIn(trx, 'files', rows))).toBe(0)
    await createNameKeys(db, systemTimers).run()
    expect(await db.selectFrom('files').select('name_sort').execute()).toEqual([{ name_sort: 'c' }])
  })
})

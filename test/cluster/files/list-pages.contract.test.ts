import { describe, expect, test } from 'bun:test'
import { type CompiledQuery, sql } from 'kysely'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import { type Database, isPostgres } from '../../../src/database/database.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import type { AccountId, FileId, FolderId } from '../../../src/domain/ids.ts'
import { makeFolderIdentifier, systemRandom } from '../../../src/domain/random.ts'
import { type FileOrder, listFiles } from '../../../src/files/file-lists.rows.ts'
import { createFileLists, placeFile } from '../../../src/files/files.ts'
import { insertFolder } from '../../../src/files/folders/folders.ts'
import { resolvePlace } from '../../../src/files/folders/places.ts'
import { Usage } from '../../../src/files/use-counters.ts'
import { accountWithFile } from '../../support/contents/account-with-file.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { databases } from '../../support/databases/databases.ts'
import { recordedDatabase } from '../../support/databases/recorded-database.ts'
import { handClock } from '../../support/hand-clock.ts'

const FILES = 53
/** Of another account: an index without accounts would have to pass over them. */
const OF_OTHERS = 2000
const PER_PAGE = 10

const orders: readonly FileOrder[] = (['created_at', 'name', 'size', 'downloads'] as const).flatMap(
  (sort) => [
    { sort, order: 'asc' },
    { sort, order: 'desc' },
  ],
)

interface Filled {
  readonly account: AccountId
  readonly folder: FolderId
}

/** Files that are alike in the columns that lists are sorted by, two or three each. */
async function fill(db: Database): Promise<Filled> {
  const { account, folder, file: first } = await accountWithFile(db, 'alice')
  await addCopies(db, first, FILES - 1 + OF_OTHERS, (number) => `file ${Math.floor(number / 2)}`)
  const other = (await createAccounts(db, handClock(), systemRandom).add('bob')).id
  const place = await resolvePlace(db, { account: other, within: null }, 'root')
  await sql`update files set account_id = ${other}, folder_id = ${place} where id >= ${first + FILES}`.execute(
    db,
  )
  await sql`update files set created_at = id / 3, size = id % 7, downloads = id % 5`.execute(db)
  await sql`analyze files`.execute(db)
  return { account, folder }
}

async function pagesOf(db: Database, place: Filled['folder'] | null, account: AccountId, order: FileOrder) {
  const page = (offset: number, total: number | null) =>
    listFiles(db, { account, folder: place, ...order, offset, limit: PER_PAGE }, total)
  const offsets = Array.from({ length: FILES / PER_PAGE + 2 }, (_, at) => at * PER_PAGE)
  const fromStart = await Promise.all(offsets.map((offset) => page(offset, null)))
  const fromNearerEnd = await Promise.all(offsets.map((offset) => page(offset, FILES)))
  return { fromStart, fromNearerEnd }
}

describe.each(databases('pages of lists'))('on %s', (_, open) => {
  test('a page is the same whether it is looked for from the start or from the end', async () => {
    await using it = await open()
    const { account, folder } = await fill(it.db)
    for (const order of orders) {
      for (const place of [null, folder]) {
        const { fromStart, fromNearerEnd } = await pagesOf(it.db, place, account, order)
        expect(fromNearerEnd).toEqual(fromStart)
        expect(fromStart.flat().length).toBe(FILES)
      }
    }
  })

  test('a page and its total are of one moment, although a file comes in between', async () => {
    await using it = await open()
    const { account, file } = await accountWithFile(it.db, 'alice')
    const copies = [3, 2, 1]
    const { db } = recordedDatabase(it.db, async () => {
      await addCopies(it.db, file, copies.pop() ?? 0)
    })
    const files = createFileLists(db, new Usage(db, handClock()))
    const query = { folder: null, page: 1, perPage: 20, sort: 'size', order: 'asc', search: '' } as const
    const { files: rows, total } = await files.list({ account, within: null }, query)
    expect(copies).toEqual([])
    // No total counts the first.
    expect([rows.length, total]).toEqual([7, 6])
  })

  test('a page passes over no more than half of the list', async () => {
    await using it = await open()
    const { account } = await fill(it.db)
    const { db, asked } = recordedDatabase(it.db)
    const query = { account, folder: null, sort: 'name', order: 'asc', limit: PER_PAGE } as const
    await listFiles(db, { ...query, offset: 40 }, FILES)
    expect(last(asked).parameters).toEqual([account, PER_PAGE, FILES - 40 - PER_PAGE])
  })

  test.each(orders)('pages by %p come from an index that has this order', async (order) => {
    await using it = await open()
    const { account, folder } = await fill(it.db)
    for (const place of [null, folder]) {
      for (const offset of [0, 3]) {
        const { db, asked } = recordedDatabase(it.db)
        await listFiles(db, { account, folder: place, ...order, offset, limit: PER_PAGE })
        await expectOrderOfIndex(it.db, last(asked), place === null ? 'files_by_' : 'folder_files_by_')
      }
    }
  })

  test('a file has the same row in the first page as in another, also when its content is damaged', async () => {
    await using it = await open()
    const { db } = it
    const { account, folder, file } = await accountWithFile(db, 'alice')
    const [deep] = await addCopies(db, file, 1)
    const identifier = await moveBelow(db, { account, folder }, deep)
    const rows = async (offset: number, order: 'asc' | 'desc') =>
      listFiles(db, { account, folder: null, sort: 'created_at', order, offset, limit: 1 })

    for (const thumbnail of ['none', 'made']) {
      await sql`insert into thumbnails (blob_id, state, due_at) select blob_id, ${thumbnail}, 0 from files
        where id = ${file} on conflict (blob_id) do update set state = excluded.state`.execute(db)
      for (const damage of [null, 'hash'] as const) {
        await db
          .updateTable('blobs')
          .set((blob) => ({ damage, damaged_key: damage === null ? null : blob.ref('key') }))
          .execute()
        const same = { thumbnail, damage }
        expect(await rows(0, 'desc')).toMatchObject([{ id: deep, folder_identifier: identifier, ...same }])
        expect(await rows(0, 'asc')).toMatchObject([{ id: file, folder_identifier: null, ...same }])
        expect(await rows(1, 'asc')).toEqual(await rows(0, 'desc'))
        expect(await rows(1, 'desc')).toEqual(await rows(0, 'asc'))
      }
    }
  })
})

/** Moves the file into a new folder in the given one. */
async function moveBelow(db: Database, { account, folder }: Filled, file: number | undefined) {
  const identifier = makeFolderIdentifier(systemRandom)
  await inTransaction(db, async (trx) => {
    const below = { identifier, account_id: account, parent_id: folder, name: 'below', created_at: 0 }
    const id = await insertFolder(trx, { ...below, is_public: 1, password_hash: null })
    await placeFile(trx, file as FileId, id)
  })
  return identifier
}

function last(asked: readonly CompiledQuery[]): CompiledQuery {
  const query = asked.at(-1)
  if (query === undefined) throw new Error('nothing was asked')
  return query
}

/** A page of ten million files must not wait until all of them are read or sorted. */
async function expectOrderOfIndex(db: Database, query: CompiledQuery, index: string): Promise<void> {
  if (!isPostgres(db)) {
    const { rows } = await db.executeQuery<{ detail: string }>({
      ...query,
      sql: `explain query plan ${query.sql}`,
    })
    const plan = rows.map(({ detail }) => detail).join('\n')
    expect(plan).toContain(`SEARCH files USING INDEX ${index}`)
    expect(plan).not.toContain('TEMP B-TREE')
    return
  }
  const plan = await inTransaction(db, async (trx) => {
    // Of so few rows PostgreSQL would rather read and sort all; where it cannot do without, it still says so.
    await sql`set local enable_seqscan = off`.execute(trx)
    await sql`set local enable_sort = off`.execute(trx)
    await sql`set local enable_bitmapscan = off`.execute(trx)
    const { rows } = await trx.executeQuery<{ 'QUERY PLAN': string }>({
      ...query,
      sql: `explain ${query.sql}`,
    })
    return rows.map((row) => row['QUERY PLAN'])
  })
  const limit = plan.findIndex((line) => /^ *-> {2}Limit/.test(line))
  const depth = plan[limit]?.indexOf('->') ?? 0
  const below = plan.slice(limit + 1)
  const end = below.findIndex((line) => line.includes('->') && line.indexOf('->') <= depth)
  const page = below.slice(0, end === -1 ? below.length : end).join('\n')
  expect(page).toMatch(new RegExp(`Index (Only )?Scan (Backward )?using ${index}`))
  expect(page).not.toMatch(/Sort|Seq Scan on files/)
}

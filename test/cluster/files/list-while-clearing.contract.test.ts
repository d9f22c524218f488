import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { type Database, isPostgres } from '../../../src/database/database.ts'
import type { AccountId, FolderId, FolderPlace } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { listFiles, searchFiles } from '../../../src/files/file-lists.rows.ts'
import { createFolders } from '../../../src/files/folders/folders.ts'
import { resolvePlace } from '../../../src/files/folders/places.ts'
import { createRemovals } from '../../../src/files/removals.ts'
import { accountWithFile } from '../../support/contents/account-with-file.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { databases } from '../../support/databases/databases.ts'
import { recordedDatabase } from '../../support/databases/recorded-database.ts'
import { handClock } from '../../support/hand-clock.ts'

/** Files below the folder that is deleted, of which every second is in a folder below it. */
const GOING = 40
const PER_PAGE = 10

/** An account with `live` files and a tree that is deleted, and not cleared at all. */
async function withDeletedTree(db: Database, live: number): Promise<AccountId> {
  const { account, file } = await accountWithFile(db, 'alice')
  const reach = { account, within: null }
  const clock = handClock()
  const folders = createFolders(db, clock, systemRandom, 256)
  const create = async (name: string, parent: FolderPlace) =>
    (await folders.create(reach, { name, parent, isPublic: true, password: null })).identifier
  const tree = await create('tree', 'root')
  const below = await create('below', tree)
  const going = await addCopies(db, file, GOING, (number) => `going ${number}`)
  await addCopies(db, file, live - 1, (number) => `live ${number}`)
  const place = async (folder: FolderId, rest: number) =>
    sql`update files set folder_id = ${folder} where id >= ${going[0] ?? 0} and id <= ${going.at(-1) ?? 0}
      and id % 2 = ${rest}`.execute(db)
  await place(await resolvePlace(db, reach, tree), 0)
  await place(await resolvePlace(db, reach, below), 1)
  // Between each two live files, as far as they reach, there is one that goes.
  await sql`update files set created_at = case when name like 'going%' then id * 2 + 1 else (id - ${GOING}) * 2 end`.execute(
    db,
  )
  await createRemovals(db, clock).folders(reach, [tree])
  // The copies were counted at the top level, where the tree was deleted as an empty one.
  await sql`update accounts set files_count = ${live} where id = ${account}`.execute(db)
  if (isPostgres(db)) await sql`analyze files`.execute(db)
  return account
}

async function liveIds(db: Database): Promise<number[]> {
  const files = db.selectFrom('files').select('id').where('name', 'not like', 'going%')
  return (await files.orderBy('created_at').orderBy('id').execute()).map(({ id }) => id)
}

/** Whether the trees that go were read as a whole. */
const readsWholeTrees = (queries: readonly { readonly sql: string }[]) =>
  queries.some((query) => query.sql.includes('recursive going'))

describe.each(databases('lists while trees are cleared'))('on %s', (_, open) => {
  test.each([
    ['few', 50, 0, false],
    ['few', 50, 40, false],
    ['many', 10_100, 0, false],
    ['many', 10_100, 30, false],
    ['many', 10_100, 2000, true],
  ])('where %s are left (%i), a page from %i on has none that go', async (_left, live, offset, isWhole) => {
    await using it = await open()
    const account = await withDeletedTree(it.db, live)
    const { db, asked } = recordedDatabase(it.db)
    const query = { account, folder: null, sort: 'created_at', order: 'asc', limit: PER_PAGE } as const
    const page = await listFiles(db, { ...query, offset }, live)
    expect(page.map(({ id }) => Number(id))).toEqual((await liveIds(it.db)).slice(offset, offset + PER_PAGE))
    expect(readsWholeTrees(asked)).toBe(isWhole)
  })

  test('a search that few names answer finds none that go', async () => {
    await using it = await open()
    const account = await withDeletedTree(it.db, 50)
    const { db, asked } = recordedDatabase(it.db)
    const query = {
      account,
      folder: null,
      sort: 'created_at',
      order: 'asc',
      limit: PER_PAGE,
      offset: 0,
    } as const
    const found = await searchFiles(db, { ...query, needle: 'going' })
    expect(found).toEqual({ files: [], total: 0, isExact: true })
    const live = await searchFiles(db, { ...query, needle: 'live 7' })
    expect(live.files.map(({ name }) => name)).toEqual(['live 7'])
    if (!isPostgres(it.db)) expect(readsWholeTrees(asked)).toBe(false)
  })
})

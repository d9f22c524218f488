// Only in test:all: thousands of rows; file-search.test.ts searches.
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import { type Database, isPostgres } from '../../../src/database/database.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import type { AccountId, Sha256 } from '../../../src/domain/ids.ts'
import { makeBlobKey, makeSlug, makeUuid, systemRandom } from '../../../src/domain/random.ts'
import { foldName } from '../../../src/domain/sort-key.ts'
import { type FileOrder, searchFiles, sortColumns } from '../../../src/files/file-lists.rows.ts'
import { resolvePlace } from '../../../src/files/folders/places.ts'
import { adoptBlob, insertFile } from '../../support/contents/account-with-file.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { databases } from '../../support/databases/databases.ts'
import { handClock } from '../../support/hand-clock.ts'

/** More than a search reads before it gathers all hits. */
const FILES = 8000
const PAGE = 100

/** Some words are in the oldest names alone, some in very few, some in most. */
function nameOf(number: number): string {
  if ([5, 4000, 7990].includes(number)) return `quarzit ${number}.txt`
  if (number < 400) return `telefax ${number}.txt`
  if (number % 10 === 0) return `Report ${number} 100%.pdf`
  return `IMG_${number} 写真.jpg`
}

/** An account of so many files, the later ones newer, and no two of one size beside each other. */
async function fill(db: Database): Promise<AccountId> {
  const clock = handClock()
  const account = (await createAccounts(db, clock, systemRandom).add('alice')).id
  const first = await inTransaction(db, async (trx) => {
    const folder_id = await resolvePlace(trx, { account, within: null }, 'root')
    const sha256 = Buffer.from(systemRandom(32)).toString('hex') as Sha256
    const blob = { key: makeBlobKey(systemRandom), sha256, crc32: 0, size: 1, created_at: 0 }
    return insertFile(trx, {
      uuid: makeUuid(systemRandom),
      slug: makeSlug(systemRandom),
      account_id: account,
      folder_id,
      blob_id: await adoptBlob(trx, blob, 0),
      name: 'first',
      name_folded: 'first',
      size: 1,
      type: 'text/plain',
      created_at: 0,
      last_used_at: 0,
    })
  })
  await addCopies(db, first, FILES, nameOf)
  await sql`update files set created_at = id / 3, size = (id * 7919) % 1009`.execute(db)
  if (isPostgres(db)) await sql`analyze files`.execute(db)
  return account
}

/** What the search must find, found by reading everything. */
async function expected(db: Database, needle: string, { sort, order }: FileOrder): Promise<string[]> {
  const rows = await db
    .selectFrom('files')
    .select(['id', 'name', 'name_folded', 'name_sort', 'created_at', 'size', 'downloads'])
    .execute()
  const sign = order === 'asc' ? 1 : -1
  return rows
    .filter((row) => row.name_folded.includes(needle))
    .toSorted((a, b) => {
      const column = sortColumns({ sort, order }).find((each) => a[each] !== b[each])
      return column === undefined ? 0 : sign * (a[column] < b[column] ? -1 : 1)
    })
    .map((row) => row.name)
}

const orders: readonly FileOrder[] = [
  { sort: 'created_at', order: 'desc' },
  { sort: 'created_at', order: 'asc' },
  { sort: 'name', order: 'asc' },
  { sort: 'size', order: 'desc' },
  { sort: 'downloads', order: 'desc' },
]

const needles = [
  'telefax',
  'report',
  'quarzit',
  'img_',
  'jp',
  'qu',
  'e',
  '写',
  '写真.jpg',
  '%',
  '0',
  'no such name',
]

describe.each(databases('searches'))('on %s', (_, open) => {
  test('a search finds every hit once, in each order, on each page, with their number', async () => {
    await using it = await open()
    const account = await fill(it.db)
    for (const order of orders) {
      for (const needle of needles) {
        const hits = await expected(it.db, foldName(needle), order)
        const last = Math.max(0, Math.ceil(hits.length / PAGE) - 1) * PAGE
        for (const offset of new Set([0, PAGE, last, last + PAGE])) {
          const query = { account, folder: null, needle: foldName(needle), ...order, offset, limit: PAGE }
          const { files, total } = await searchFiles(it.db, query)
          expect([needle, order, offset, total]).toEqual([needle, order, offset, hits.length])
          expect(files.map((file) => file.name)).toEqual(hits.slice(offset, offset + PAGE))
          const bounded = await searchFiles(it.db, { ...query, countedTo: 300 })
          const most = Math.max(300, offset + 2 * PAGE)
          const isExact = hits.length <= most
          expect(bounded).toEqual({ files, total: isExact ? hits.length : most, isExact })
        }
      }
    }
  }, 300_000)
})

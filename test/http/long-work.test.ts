import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { api } from '../support/api.ts'
import { startHoldfast, type TestAccount, type TestHoldfast } from '../support/holdfast.ts'
import { visit } from '../support/public.ts'

const FILES = 2000
/** One or two may slip in before the work begins, whatever the server does then. */
const SEVERAL = 10

let holdfast: TestHoldfast

beforeAll(async () => {
  holdfast = await startHoldfast()
})

afterAll(() => holdfast.stop())

test('deleting 2,000 files in one request lets others be answered in between', async () => {
  const owner = await holdfast.addAccount()
  const account = api(holdfast, owner.apiKey)
  const { file_id } = await account.put('x')
  const identifiers = copies(owner, file_id, FILES)
  expect(await account.get('/api/v1/account')).toMatchObject({ body: { data: { files_count: FILES + 1 } } })

  let deleted = false
  const deletion = account.post('/file/delete', { identifiers }).finally(() => {
    deleted = true
  })
  let answered = 0
  while (!deleted) {
    expect((await visit(holdfast, '/health')).status).toBe(200)
    if (!deleted) answered++
  }
  expect(await deletion).toMatchObject({
    status: 200,
    body: { success: true, total_processed: FILES, successful_deletes: FILES, files_deleted: FILES },
  })
  expect(answered).toBeGreaterThan(SEVERAL)
  expect(await account.get('/api/v1/account')).toMatchObject({ body: { data: { files_count: 1 } } })
})

/** Files of the same content as the given one, written straight into the database: uploading them takes long. */
function copies(owner: TestAccount, original: number, count: number): number[] {
  using database = new Database(join(holdfast.dataDir, 'holdfast.sqlite'))
  const copy = database.query<{ id: number }, [string, string, number]>(
    `insert into files (uuid, slug, account_id, folder_id, blob_id, name, name_folded, size, type, created_at, last_used_at)
     select ?, ?, account_id, folder_id, blob_id, name, name_folded, size, type, created_at, last_used_at
     from files where id = ? returning id`,
  )
  return database.transaction(() => {
    const ids = Array.from({ length: count }, (_, number) => {
      const row = copy.get(crypto.randomUUID(), `Copy${String(number).padStart(8, '0')}`, original)
      if (row === null) throw new Error(`there is no file ${original}`)
      return row.id
    })
    database.run('update blobs set refs = refs + ? where id = (select blob_id from files where id = ?)', [
      count,
      original,
    ])
    database.run(
      'update folders set file_count = file_count + ? where id = (select folder_id from files where id = ?)',
      [count, original],
    )
    database.run(
      'update accounts set files_count = files_count + ?, storage_used = storage_used + ? where id = ?',
      [count, count, owner.id],
    )
    return ids
  })()
}

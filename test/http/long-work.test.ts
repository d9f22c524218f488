import { afterAll, beforeAll, expect, test } from 'bun:test'
import { changeTotals } from '../../src/database/accounts.ts'
import { changeFiles } from '../../src/database/folders.ts'
import type { FileId, Slug, Uuid } from '../../src/domain/ids.ts'
import { api } from '../support/api.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'
import { visit } from '../support/public.ts'

const FILES = 2000
/** One or two may slip in before the work begins, whatever the server does then. */
const SEVERAL = 10
/** Rows in one statement, which may hold so many values. */
const AT_ONCE = 500

let holdfast: TestHoldfast

beforeAll(async () => {
  holdfast = await startHoldfast()
})

afterAll(() => holdfast.stop())

test('deleting 2,000 files in one request lets others be answered in between', async () => {
  const owner = await holdfast.addAccount()
  const account = api(holdfast, owner.apiKey)
  const { file_id } = await account.put('x')
  const identifiers = await copies(file_id, FILES)
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
async function copies(original: number, count: number): Promise<number[]> {
  return holdfast.database.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('files')
      .selectAll()
      .where('id', '=', original as FileId)
      .executeTakeFirstOrThrow()
    const { id: _, ...columns } = row
    const ids: number[] = []
    for (let first = 0; first < count; first += AT_ONCE) {
      const rows = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, number) => ({
        ...columns,
        uuid: crypto.randomUUID() as Uuid,
        slug: `Copy${String(first + number).padStart(8, '0')}` as Slug,
      }))
      const made = await trx.insertInto('files').values(rows).returning('id').execute()
      ids.push(...made.map(({ id }) => id))
    }
    await trx
      .updateTable('blobs')
      .set((blob) => ({ refs: blob('refs', '+', count) }))
      .where('id', '=', row.blob_id)
      .execute()
    await changeTotals(trx, row.account_id, { files: count, storage: count * row.size })
    await changeFiles(trx, row.folder_id, count, count * row.size)
    return ids
  })
}

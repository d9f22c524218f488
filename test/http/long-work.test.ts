import { afterAll, beforeAll, expect, test } from 'bun:test'
import { api } from '../support/api.ts'
import { addCopies } from '../support/file-copies.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'
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
  const identifiers = await addCopies(holdfast.database, file_id, FILES)
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

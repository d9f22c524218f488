/** What a kill leaves of the windows in which requests and wrong passwords are counted, on SQLite. */
// Only in test:all: a kill, and three starts of the program.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openSqlite } from '../../src/database/sqlite.ts'
import { eventually } from '../support/eventually.ts'
import { addAccount, type ChildServer, startChild, temporaryFolder } from '../support/processes/child.ts'

const REQUESTS = 30

test('a killed server goes on with the windows that it had: neither a limit nor a lock is lifted', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const { apiKey } = await addAccount(dataDir, 'alice')
  const remaining = async ({ url }: ChildServer) => {
    const response = await fetch(`${url}/api/v1/files`, { headers: { authorization: `Bearer ${apiKey}` } })
    await response.text()
    return Number(response.headers.get('x-ratelimit-remaining'))
  }
  const guess = async ({ url }: ChildServer) => {
    const headers = { origin: url, 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'username=alice&password=not+the+password'
    const response = await fetch(`${url}/sign-in`, { method: 'POST', headers, body, redirect: 'manual' })
    await response.text()
    return response.status
  }

  await using before = await startChild(dataDir, { RATE_LIMIT: '1000' })
  let wrong = 0
  while ((await guess(before)) !== 429) wrong++
  expect(wrong).toBeGreaterThan(1)
  for (let count = 0; count < REQUESTS; count++) await remaining(before)
  const database = openSqlite(join(dataDir, 'holdfast.sqlite'))
  await eventually('both are written, as they are once a second', async () => {
    const rows = await database.selectFrom('rate_windows').select('used').execute()
    const used = rows.map((row) => row.used)
    return used.includes(REQUESTS) && used.includes(wrong)
  })
  await database.destroy()
  // Of these at most the last second is lost, which may be all.
  for (let count = 0; count < REQUESTS; count++) await remaining(before)
  await before.kill()

  await using after = await startChild(dataDir, { RATE_LIMIT: '1000' })
  expect(await guess(after)).toBe(429)
  const left = await remaining(after)
  expect(left).toBeLessThan(1000 - REQUESTS)
  expect(left).toBeGreaterThanOrEqual(1000 - 2 * REQUESTS - 1)
})

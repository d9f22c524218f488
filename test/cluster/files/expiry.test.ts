import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { listOutages, setLastRun } from '../../../src/core/outages.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { DAY, HOUR, MINUTE, timestamp } from '../../../src/domain/clock.ts'
import {
  api,
  askSigned,
  bearer,
  detail,
  elements,
  makeFolder,
  randomBytes,
  type Uploaded,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { account, notYetPurged, pass, withOwner } from '../../support/servers/expiry.ts'
import type { TestHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { administrator } from '../../support/sign-in/administrator.ts'

const ODD_SIZE = 54_321

async function statusOf(host: TestHoldfast, key: string, file: Uploaded): Promise<number> {
  return (await api(host, key, 'GET', `/api/v1/file/${file.slug}`)).status
}

/** For tests in which time goes by, and is never set back. */
const host = await hostOfFile()
const owner = async () => (await host.addAccount()).apiKey

/** How many blobs lie in the store. */
async function kept(host: TestHoldfast): Promise<number> {
  return (await host.storedBlobs()).length
}

/** Lets everything that is not used run out of its days, and no more. */
function runOut(host: TestHoldfast): Promise<void> {
  return pass(host, 45 * DAY + MINUTE, 46 * DAY)
}

describe('the day a file goes', () => {
  test('is told by expires_at: 45 days after the upload, then after the last use', async () => {
    const key = await owner()
    const file = await upload(host, { key })
    const { created_at, expires_at } = await detail(host, key, file)
    expect(expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const first = new Date(created_at).getTime() + 45 * DAY
    expect(Math.abs(new Date(expires_at).getTime() - first)).toBeLessThan(MINUTE)
    await pass(host, 10 * DAY, 10 * DAY)
    expect((await detail(host, key, file)).expires_at).toBe(expires_at)
    await visit(host, `/d/${file.slug}`)
    const second = new Date((await detail(host, key, file)).expires_at).getTime()
    expect(Math.abs(second - (first + 10 * DAY))).toBeLessThan(MINUTE)
  })

  test('follows the setting', async () => {
    await withOwner({ inactiveDays: 10 }, async (host, key) => {
      const file = await upload(host, { key })
      const { created_at, expires_at } = await detail(host, key, file)
      const expected = new Date(created_at).getTime() + 10 * DAY
      expect(Math.abs(new Date(expires_at).getTime() - expected)).toBeLessThan(MINUTE)
      await pass(host, 10 * DAY + MINUTE, 11 * DAY)
      expect(await statusOf(host, key, file)).toBe(404)
    })
  })

  test('comes within a minute of its time, and not before', async () => {
    const key = await owner()
    const file = await upload(host, { key })
    await pass(host, 45 * DAY - MINUTE, 45 * DAY)
    expect(await statusOf(host, key, file)).toBe(200)
    await pass(host, 2 * MINUTE, 2 * MINUTE)
    expect(await statusOf(host, key, file)).toBe(404)
  })

  test('is put off by a use whose counter has not been written yet', async () => {
    const key = await owner()
    const file = await upload(host, { key })
    host.clock.advance(45 * DAY - MINUTE)
    await visit(host, `/d/${file.slug}`)
    host.clock.advance(2 * MINUTE)
    await host.runJobs()
    expect(await statusOf(host, key, file)).toBe(200)
  })

  test('comes for a guest upload too', async () => {
    const file = await upload(host)
    await runOut(host)
    expect((await visit(host, `/d/${file.slug}`)).status).toBe(404)
  })
})

describe('an expired file', () => {
  test('is out of every list, count and total, and its neighbour stays', async () => {
    const key = await owner()
    const folder = await makeFolder(host, key)
    const file = await upload(host, { key, folder, name: 'lost.txt', bytes: randomBytes(700) })
    await pass(host, 40 * DAY, 40 * DAY)
    const stays = await upload(host, { key, folder, name: 'stays.txt', bytes: randomBytes(300) })
    const rootFile = await upload(host, { key, name: 'root.txt', bytes: randomBytes(50) })
    expect(await account(host, key)).toMatchObject({ storage_used: 1050, files_count: 3 })
    await pass(host, 5 * DAY + MINUTE, 6 * DAY)

    expect(await account(host, key)).toMatchObject({ storage_used: 350, files_count: 2 })
    const lists: readonly [string, readonly number[]][] = [
      ['/api/v1/files', [rootFile.file_id, stays.file_id]],
      [`/api/v1/files?folder=${folder}`, [stays.file_id]],
      ['/api/v1/files?search=LOST', []],
      ['/api/v1/files?sort=name&order=asc', [rootFile.file_id, stays.file_id]],
      [`/api/v1/folder/${folder}/files`, [stays.file_id]],
      [`/api/v1/folder/${folder}/files?page=1`, [stays.file_id]],
    ]
    const listed = z.object({
      data: z.array(z.object({ id: z.number() })),
      pagination: z.object({ total: z.number() }).optional(),
    })
    for (const [path, ids] of lists) {
      const { data, pagination } = listed.parse((await api(host, key, 'GET', path)).body)
      expect([path, data.map(({ id }) => id)]).toEqual([path, [...ids]])
      expect([path, pagination?.total ?? ids.length]).toEqual([path, ids.length])
    }
    const folders = await api(host, key, 'GET', '/api/v1/folders')
    expect(folders.body).toMatchObject({ data: [{ id: folder, file_count: 1 }] })
    const html = await (await visit(host, `/f/${folder}`)).text()
    expect(elements(html, '.file-item').map((item) => item.attributes['data-name'])).toEqual(['stays.txt'])
    expect(file.size).toBe(700)
  })

  test('is gone from every route, for its owner too', async () => {
    const key = await owner()
    const folder = await makeFolder(host, key)
    const file = await upload(host, { key })
    await runOut(host)
    for (const id of [file.slug, file.uuid, file.file_id]) {
      expect((await api(host, key, 'GET', `/api/v1/file/${id}`)).status).toBe(404)
      const renamed = await api(host, key, 'PATCH', `/api/v1/file/${id}`, { name: 'x' })
      expect(renamed.status).toBe(404)
      const moved = await api(host, key, 'POST', '/api/v1/file/move', { file: id, folder })
      expect(moved.status).toBe(404)
      const batch = await api(host, key, 'POST', '/api/v1/files/move', { files: [id], folder })
      expect(batch.body).toMatchObject({ success: false, data: { moved: 0, failed: 1 } })
      const deleted = await api(host, key, 'POST', '/file/delete', { identifiers: [id] })
      expect(deleted.body).toMatchObject({ success: false, failed_deletes: 1, files_deleted: 0 })
    }
    expect((await api(host, key, 'GET', `/api/v1/upload/status?slug=${file.slug}`)).status).toBe(404)
    for (const headers of [{}, bearer(key)]) {
      for (const path of [`/d/${file.slug}`, `/d/${file.slug}?download=1`, `/t/${file.uuid}`]) {
        expect((await visit(host, path, { headers })).status).toBe(404)
      }
      for (const mode of ['download', 'view'] as const) {
        expect((await askSigned(host, mode, { file_slug: file.slug }, headers)).status).toBe(404)
      }
    }
  })

  test('does not count when its folder is deleted', async () => {
    const key = await owner()
    const folder = await makeFolder(host, key)
    await upload(host, { key, folder })
    await runOut(host)
    await upload(host, { key, folder })
    const deleted = await api(host, key, 'POST', '/folder/delete', { identifiers: [folder] })
    expect(deleted.body).toMatchObject({ success: true, successful_deletes: 1, files_deleted: 1 })
    expect(await account(host, key)).toMatchObject({ storage_used: 0, files_count: 0 })
  })

  test('makes room for another of its size', async () => {
    const { id, apiKey: key } = await host.addAccount()
    await sql`update accounts set quota = 1000 where id = ${id}`.execute(host.database)
    await upload(host, { key, bytes: randomBytes(900) })
    await expect(upload(host, { key, bytes: randomBytes(900) })).rejects.toThrow('413')
    await runOut(host)
    expect((await upload(host, { key, bytes: randomBytes(900) })).size).toBe(900)
  })
})

describe('purging', () => {
  test('removes the bytes, but not within 24 hours', async () => {
    await withOwner({}, async (host, key) => {
      await upload(host, { key, bytes: randomBytes(ODD_SIZE) })
      await runOut(host)
      expect(await kept(host)).toBe(1)
      await pass(host, 23 * HOUR, 6 * HOUR)
      expect(await kept(host)).toBe(1)
      await pass(host, 3 * DAY, 6 * HOUR)
      expect(await kept(host)).toBe(0)
      expect(await notYetPurged(host, key)).toBe(0)
    })
  })

  test('leaves the bytes that a living file shares', async () => {
    const key = await owner()
    const bytes = randomBytes(ODD_SIZE)
    await upload(host, { key, bytes })
    const twin = await upload(host, { key, bytes })
    await pass(host, 30 * DAY, 30 * DAY)
    await visit(host, `/d/${twin.slug}`)
    await pass(host, 16 * DAY, 16 * DAY)
    await pass(host, 4 * DAY, 6 * HOUR)
    const link = await visit(host, `/d/${twin.slug}?download=1`)
    const content = await visit(host, link.headers.get('location') ?? '')
    expect(await content.bytes()).toEqual(bytes)
    expect(await account(host, key)).toMatchObject({ storage_used: ODD_SIZE, files_count: 1 })
  })

  test.each([
    ['1,000 files', 0, 1000],
    ['1 % of all files, where that is more,', 150_000, 1500],
  ])('takes at most %s in one sweep', async (_, others, most) => {
    await withOwner({}, async (host, key) => {
      const total = most + 5
      const { id } = await host.addAccount()
      await sql`update accounts set files_count = ${others} where id = ${id}`.execute(host.database)
      const contents = Array.from({ length: 5 }, () => randomBytes(16))
      for (const bytes of contents) {
        const { file_id } = await upload(host, { key, bytes })
        await addCopies(host.database, file_id, total / contents.length - 1)
      }
      expect((await account(host, key)).files_count).toBe(total)
      await runOut(host)
      expect((await account(host, key)).files_count).toBe(0)
      host.clock.advance(25 * HOUR)
      await host.runJobs()
      expect(await notYetPurged(host, key)).toBe(total - most)
    })
  })
})

describe('a clock that was wrong', () => {
  test('46 days ahead for most of a day, then right again, hides no file and costs none', async () => {
    await withOwner({}, async (host, key) => {
      const folder = await makeFolder(host, key)
      const bytes = randomBytes(ODD_SIZE)
      const file = await upload(host, { key, folder, name: 'keep me.txt', bytes })
      const guest = await upload(host)
      const before = await account(host, key)
      await pass(host, 2 * DAY, DAY)
      host.clock.leap(46 * DAY)
      await host.runJobs()
      expect(await statusOf(host, key, file)).toBe(200)
      expect(await account(host, key)).toEqual(before)
      await pass(host, 23 * HOUR, 6 * HOUR)
      host.clock.leap(-46 * DAY)
      await host.runJobs()

      expect(await account(host, key)).toEqual(before)
      expect(await statusOf(host, key, file)).toBe(200)
      const folders = await api(host, key, 'GET', '/api/v1/folders')
      expect(folders.body).toMatchObject({ data: [{ file_count: 1 }] })
      const found = await api(host, key, 'GET', '/api/v1/files?search=keep')
      expect(found.body).toMatchObject({ data: [{ id: file.file_id }], pagination: { total: 1 } })
      expect((await visit(host, `/d/${guest.slug}`)).status).toBe(200)
      const link = await visit(host, `/d/${file.slug}?download=1`)
      expect(await (await visit(host, link.headers.get('location') ?? '')).bytes()).toEqual(bytes)
      await pass(host, 3 * DAY, 6 * HOUR)
      expect(await account(host, key)).toEqual(before)
      expect(await kept(host)).toBe(2)
    })
  })

  test('brings nothing back into a folder that was deleted meanwhile', async () => {
    await withOwner({}, async (host, key) => {
      const folder = await makeFolder(host, key)
      const inner = await makeFolder(host, key, { parent: folder })
      const files = [await upload(host, { key, folder }), await upload(host, { key, folder: inner })]
      await runOut(host)
      await api(host, key, 'POST', '/folder/delete', { identifiers: [folder] })
      host.clock.leap(-46 * DAY)
      await host.runJobs()
      expect(await account(host, key)).toEqual({ storage_used: 0, files_count: 0, folders_count: 0 })
      for (const file of files) expect(await statusOf(host, key, file)).toBe(404)
    })
  })

  test('46 days behind and right again takes nothing', async () => {
    await withOwner({}, async (host, key) => {
      const file = await upload(host, { key })
      host.clock.leap(-46 * DAY)
      await host.runJobs()
      await pass(host, 2 * DAY, 6 * HOUR)
      host.clock.leap(46 * DAY)
      await host.runJobs()
      await pass(host, 2 * DAY, 6 * HOUR)
      expect(await statusOf(host, key, file)).toBe(200)
    })
  })
})

describe('a start', () => {
  test('with the clock 46 days ahead, put right within a day, hides no file and costs none', async () => {
    await withOwner({}, async (host, key) => {
      const file = await upload(host, { key, bytes: randomBytes(ODD_SIZE) })
      host.clock.leap(46 * DAY)
      await host.restart()
      await pass(host, 23 * HOUR, 6 * HOUR)
      expect(await statusOf(host, key, file)).toBe(200)
      host.clock.leap(-46 * DAY)
      await host.restart()
      await host.runJobs()
      expect(await statusOf(host, key, file)).toBe(200)
      await pass(host, 3 * DAY, 6 * HOUR)
      expect(await kept(host)).toBe(1)
    })
  })

  const ways: readonly [string, (host: TestHoldfast) => Promise<void>][] = [
    ['after a stop', (host) => host.restart(() => host.clock.advance(100 * DAY))],
    [
      'from a database that was copied long ago',
      async (host) => {
        const copied = host.clock.now()
        host.clock.advance(100 * DAY)
        await host.restart(() => inTransaction(host.database, (trx) => setLastRun(trx, copied)))
      },
    ],
  ]
  test.each(ways)(
    '%s of 100 days gives every file that time in addition, and says so',
    async (_way, start) => {
      await withOwner({ binDays: 7 }, async (host, key) => {
        const file = await upload(host, { key })
        const binned = await upload(host, { key })
        await api(host, key, 'POST', '/api/v1/bin', { files: [binned.slug] })
        const { expires_at } = await detail(host, key, file)
        await start(host)
        await host.runJobs()

        const [outage] = await listOutages(host.database)
        const lasted = (outage?.ended_at ?? 0) - (outage?.began_at ?? 0)
        expect(lasted).toBeGreaterThanOrEqual(100 * DAY)
        const told = z.object({ outages: z.array(z.object({ began_at: z.string(), cause: z.string() })) })
        const { outages } = await (await administrator(host)).read('/statistics', told)
        expect(outages).toEqual([{ began_at: timestamp(outage?.began_at ?? 0), cause: 'stopped' }])
        expect(await statusOf(host, key, file)).toBe(200)
        const after = (await detail(host, key, file)).expires_at
        expect(Date.parse(after) - Date.parse(expires_at)).toBe(lasted)
        await pass(host, 6 * DAY, DAY)
        const bin = await api(host, key, 'GET', '/api/v1/bin')
        expect(bin.body).toMatchObject({ data: [{ kind: 'file' }] })
        await pass(host, 38 * DAY, 19 * DAY)
        expect(await statusOf(host, key, file)).toBe(200)
        await pass(host, 2 * DAY, 2 * DAY)
        expect(await statusOf(host, key, file)).toBe(404)
      })
    },
  )
})

import { describe, expect, test } from 'bun:test'
import { DAY } from '../../../src/domain/clock.ts'
import { detail, list } from '../../support/clients/answers.ts'
import { newcomer, refusal } from '../../support/clients/api.ts'
import { startHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

describe('a file that nobody looks at', () => {
  test('tells when it would be removed: after 45 days', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x')
    const { created_at, expires_at } = await detail(caller, slug)
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBeGreaterThanOrEqual(45 * DAY)
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBeLessThan(45 * DAY + 60_000)
  })

  test('is given the days of the settings', async () => {
    const own = await startHoldfast({ inactiveDays: 3 })
    try {
      const caller = await newcomer(own)
      const { slug } = await caller.put('x')
      const { created_at, expires_at } = await detail(caller, slug)
      expect(Math.round((Date.parse(expires_at) - Date.parse(created_at)) / DAY)).toBe(3)
      own.clock.advance(3 * DAY + 60_000)
      await own.runJobs()
      expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
    } finally {
      await own.stop()
    }
  })

  test('is gone for its owner and from every count after 45 days, and not before', async () => {
    const own = await startHoldfast()
    try {
      const caller = await newcomer(own)
      const folder = await caller.folder('old')
      const file = await caller.put('hello', { folder })
      own.clock.advance(45 * DAY - 3_600_000)
      await own.runJobs()
      expect((await list(caller)).pagination.total).toBe(1)
      own.clock.advance(2 * 3_600_000)
      await own.runJobs()
      expect((await list(caller)).pagination.total).toBe(0)
      for (const id of [file.slug, file.uuid, file.file_id]) {
        expect(await caller.get(`/api/v1/file/${id}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
      }
      expect(await caller.get(`/api/v1/upload/status?slug=${file.slug}`)).toMatchObject({ status: 404 })
      expect((await caller.get('/api/v1/account')).body).toMatchObject({
        data: { storage_used: 0, files_count: 0, folders_count: 1 },
      })
      expect((await caller.get(`/api/v1/folder/${folder}/files`)).body).toMatchObject({ data: [] })
      expect((await caller.get('/api/v1/folders')).body).toMatchObject({ data: [{ file_count: 0 }] })
      expect((await fetch(file.url)).status).toBe(404)
    } finally {
      await own.stop()
    }
  })

  test('lives on when it was downloaded or viewed meanwhile', async () => {
    const own = await startHoldfast()
    try {
      const caller = await newcomer(own)
      const viewed = await caller.put('v')
      const downloaded = await caller.put('d')
      await caller.put('neither')
      own.clock.advance(30 * DAY)
      await fetch(viewed.url).then((response) => response.bytes())
      await fetch(`${downloaded.url}?download=1`).then((response) => response.bytes())
      await own.runJobs()
      own.clock.advance(30 * DAY)
      await own.runJobs()
      const left = (await list(caller)).data.map((file) => file.id)
      expect(left).toEqual([downloaded.file_id, viewed.file_id])
    } finally {
      await own.stop()
    }
  })
})

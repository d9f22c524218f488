/** Stored bytes are read again by the server itself. */
// Only in test:all: days of a job; damages.test.ts has a run of it.
// Only on a folder: damages.test.ts has the job on the cluster.
import { afterAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type BlobStore, BlobUnreadable } from '../../../../src/blobs/blob-store.ts'
import type { Config } from '../../../../src/config.ts'
import { TooMuchDamage } from '../../../../src/contents/damage.ts'
import { StoreUnreadable } from '../../../../src/contents/reading.ts'
import { scrub, scrubDays } from '../../../../src/contents/scrub.ts'
import { countDamaged, damagedContents, oldestUnverified } from '../../../../src/core/damage.rows.ts'
import { DAY } from '../../../../src/domain/clock.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { createLog } from '../../../../src/log.ts'
import {
  api,
  elements,
  GENEROUS,
  signedAddress,
  textBytes,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { overridden } from '../../../support/storage/overridden.ts'
import { contentOf, flipByte, storeOf } from '../../../support/storage/stored-contents.ts'

const verified = z.object({ data: z.object({ verified_at: z.nullable(z.string()) }) })

const hosts: TestHoldfast[] = []
afterAll(async () => {
  for (const each of hosts) await each.stop()
})

async function start(settings: Partial<Config> = {}) {
  const host = await startHoldfast({ ...GENEROUS, scrubDays: 30, ...settings })
  hosts.push(host)
  const stored = async (name: string) => {
    const file = await upload(host, { name, bytes: textBytes(name) })
    return { ...file, ...(await contentOf(host, file.slug)) }
  }
  const statusOf = async (file: Awaited<ReturnType<typeof stored>>) =>
    (await visit(host, await signedAddress(host, file, 'download'))).status
  /** Of all contents without a mark, the longest unread first: whether they were verified or stored today. */
  const areToday = async () => {
    const copies = await oldestUnverified(host.database, Number.MAX_SAFE_INTEGER, 100)
    return copies.map(({ since }) => since > host.clock.now() - DAY)
  }
  const parts = async () => ({
    db: host.database,
    blobs: await storeOf(host),
    clock: host.clock,
    log: createLog('silent', { terminal: false }),
    config: host.config,
    diskLoad: { quiet: async () => true },
  })
  return { host, stored, statusOf, areToday, parts }
}

describe('the job that reads stored bytes again', () => {
  test('finds what is changed, cut or missing once it is due, and notes what is sound', async () => {
    const { host, stored, statusOf, areToday } = await start()
    const [sound, changed, cut, lost] = [
      await stored('sound'),
      await stored('changed'),
      await stored('cut'),
      await stored('lost'),
    ]
    await flipByte(host, changed.key)
    await host.cutBlob(cut.key, 1)
    await host.cutBlob(lost.key, null)
    host.clock.advance(26 * DAY)
    await host.runJobs()
    expect(await countDamaged(host.database)).toBe(0)
    expect(await areToday()).toEqual([false, false, false, false])
    host.clock.advance(DAY)
    await host.runJobs()
    expect(await countDamaged(host.database)).toBe(3)
    expect(await areToday()).toEqual([true])
    expect(await statusOf(sound)).toBe(200)
    for (const file of [changed, cut, lost]) expect(await statusOf(file)).toBe(500)
  })

  test('is told of in the details of a file, until another copy takes the place of what was read', async () => {
    const { host } = await start()
    const { apiKey: key } = await host.addAccount()
    const store = () => upload(host, { key, name: 'a file', bytes: textBytes('a file') })
    const file = await store()
    const told = async () => {
      const { body } = await api(host, key, 'GET', `/api/v1/file/${file.slug}`)
      const html = await (await visit(host, `/d/${file.slug}`)).text()
      const spans = elements(html, '#detailsContent span').map(({ text }) => text)
      expect(spans.slice(0, 10).filter((_, at) => at % 2 === 0)).toEqual([
        ...['UUID', 'Type', 'Uploaded', 'Size', 'SHA-256'],
      ])
      const at = verified.parse(body).data.verified_at
      expect(spans[spans.indexOf('Verified') + 1]).toBe(at ?? 'Not since it was stored')
      return at
    }
    expect(await told()).toBeNull()
    host.clock.advance(28 * DAY)
    await host.runJobs()
    const at = Date.parse((await told()) ?? '')
    expect(at).toBeGreaterThan(host.clock.now() - DAY)
    host.clock.advance(DAY)
    await store()
    expect(await told()).toBeNull()
  })

  test('marks what the disk cannot read twice, unless it can read nothing, and goes on', async () => {
    const { host, stored, areToday, parts } = await start()
    await stored('sound')
    const { key: weak } = await stored('weak')
    const { key: bad } = await stored('bad')
    host.clock.advance(28 * DAY)
    const look = async (isFaulty: (key: BlobKey) => boolean) => {
      const given = await parts()
      const read: BlobStore['read'] = async (key, ...span) => {
        if (isFaulty(key)) throw new BlobUnreadable(key)
        return given.blobs.read(key, ...span)
      }
      await scrub({ ...given, blobs: overridden(given.blobs, { read }) }, () => true)
    }
    await expect(look(() => true)).rejects.toThrow(StoreUnreadable)
    expect(await countDamaged(host.database)).toBe(0)
    let looks = 0
    await look((key) => key === bad || (key === weak && looks++ === 0))
    expect(await countDamaged(host.database)).toBe(1)
    expect(await areToday()).toEqual([true, true])
    expect((await damagedContents(host.database, null, 9)).map(({ key, damage }) => [key, damage])).toEqual([
      [bad, 'unreadable'],
    ])
  })

  test('reads nothing where it is off, as it is with S3 until days are given', async () => {
    const { host, stored } = await start({ scrubDays: 0 })
    const { key } = await stored('changed')
    await flipByte(host, key)
    host.clock.advance(40 * DAY)
    await host.runJobs()
    expect(await countDamaged(host.database)).toBe(0)
    const { s3 } = host.config
    expect(scrubDays({ scrubDays: null, s3 })).toBe(s3 === null ? 30 : 0)
  })

  test('marks ten or one in a hundred, and then fails without reading the rest as sound', async () => {
    const { host, stored, areToday, parts } = await start()
    for (let count = 0; count < 12; count++) {
      await host.cutBlob((await stored(`lost ${count}`)).key, null)
    }
    host.clock.advance(28 * DAY)
    await expect(scrub(await parts(), () => true)).rejects.toThrow(TooMuchDamage)
    await expect(scrub(await parts(), () => true)).rejects.toThrow(TooMuchDamage)
    expect(await countDamaged(host.database)).toBe(10)
    expect(await areToday()).toEqual([false, false])
  })

  test('counts what it has read when it has to stop in the middle', async () => {
    const { host, stored, areToday, parts } = await start()
    for (const name of ['one', 'two', 'three']) {
      await stored(name)
      host.clock.advance(1)
    }
    host.clock.advance(28 * DAY)
    let asked = 0
    // Asked once for the batch, and once for the only chunk of each content.
    await scrub(await parts(), () => ++asked < 4)
    expect(await areToday()).toEqual([false, true, true])
  })

  test('counts what it has read when the store fails, and marks nothing for it', async () => {
    const { host, stored, areToday, parts } = await start()
    for (const name of ['one', 'two']) {
      await stored(name)
      host.clock.advance(1)
    }
    host.clock.advance(28 * DAY)
    const given = await parts()
    let reads = 0
    const blobs = overridden(given.blobs, {
      read: async (...range: Parameters<typeof given.blobs.read>) => {
        if (++reads > 1) throw new Error('the disk does not answer')
        return given.blobs.read(...range)
      },
    })
    await expect(scrub({ ...given, blobs }, () => true)).rejects.toThrow('the disk does not answer')
    expect(await countDamaged(host.database)).toBe(0)
    expect(await areToday()).toEqual([false, true])
  })

  test('leaves what is due while the disk is busy, and reads what is overdue', async () => {
    const { host, stored, areToday, parts } = await start()
    for (const name of ['overdue', 'due', 'due too']) {
      await stored(name)
      host.clock.advance(DAY)
    }
    host.clock.advance(27 * DAY + DAY / 2)
    let isQuiet = false
    const given = { ...(await parts()), diskLoad: { quiet: async () => isQuiet } }
    await scrub(given, () => true)
    expect(await areToday()).toEqual([false, false, true])
    isQuiet = true
    await scrub(given, () => true)
    expect(await areToday()).toEqual([true, true, true])
  })

  test('leaves what is marked to checks', async () => {
    const { host, stored, parts } = await start()
    const { key } = await stored('changed')
    await flipByte(host, key)
    host.clock.advance(28 * DAY)
    await scrub(await parts(), () => true)
    await flipByte(host, key)
    let asked = 0
    await scrub(await parts(), () => ++asked < 10)
    expect(asked).toBe(1)
    expect(await countDamaged(host.database)).toBe(1)
  })
})

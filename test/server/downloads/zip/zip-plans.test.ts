/** Zip plans: how many there may be, how long they are held, and what a selection of folders inside each other costs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { systemClock } from '../../../../src/domain/clock.ts'
import { Refusal } from '../../../../src/domain/errors.ts'
import {
  ARCHIVE_LIMITS,
  type ArchiveLimits,
  type ArchiveSlot,
  ArchiveSlots,
} from '../../../../src/downloads/zip/archive-slots.ts'
import { type Api, api, newcomer, refusal } from '../../../support/clients/api.ts'
import { visit } from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw, type RawConnection } from '../../../support/network/raw-connection.ts'
import { atNode, startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const LIMITS: ArchiveLimits = {
  held: { all: { holders: 4, size: 100 }, each: { holders: 3, size: 60 }, kept: 0, idleAfter: 60_000 },
  waiting: { all: { holders: 3, size: 0 }, each: { holders: 2, size: 0 }, kept: 0, idleAfter: 60_000 },
  planning: 2,
  patience: 50,
}

const reader = (address: string, gone = new AbortController().signal) => ({
  holder: { networks: [address], isKnown: false },
  gone,
})
const busy = { code: 'SERVER_BUSY', retryAfter: expect.any(Number) }

describe('slots for zip plans', () => {
  test('hold their entries until they end, for the process and for each address', async () => {
    const slots = new ArchiveSlots(systemClock, LIMITS)
    const take = async (address: string, entries: number): Promise<ArchiveSlot> => {
      const slot = await slots.take(reader(address), entries)
      slot.planned()
      return slot
    }
    const first = await take('a', 50)
    await expect(take('a', 20)).rejects.toMatchObject(busy)
    await take('b', 40)
    await expect(take('c', 20)).rejects.toMatchObject(busy)
    first.end()
    first.end()
    await take('c', 20)
    await take('a', 20)
    // Each of these is small, and still one of a number.
    const last = await take('a', 0)
    await expect(take('a', 0)).rejects.toMatchObject(busy)
    expect(last.yielded.aborted).toBe(false)
  })

  test('fit to the last entry, and one without any weighs as one', async () => {
    const slots = new ArchiveSlots(systemClock, LIMITS)
    const take = async (address: string, entries: number) =>
      (await slots.take(reader(address), entries)).planned()
    await take('a', 60)
    await take('b', 39)
    await take('b', 0)
    await expect(take('b', 0)).rejects.toMatchObject(busy)
  })

  test('are planned so many at a time, whatever is said twice of those before', async () => {
    const slots = new ArchiveSlots(systemClock, LIMITS)
    const first = await slots.take(reader('a'), 1)
    first.planned()
    first.planned()
    first.end()
    for (const address of ['a', 'b']) await slots.take(reader(address), 1)
    await expect(slots.take(reader('c'), 1)).rejects.toMatchObject(busy)
  })

  test('are given to who waits, as plans are made and ended', async () => {
    const slots = new ArchiveSlots(systemClock, { ...LIMITS, patience: 20_000 })
    const [one, two] = [await slots.take(reader('a'), 1), await slots.take(reader('b'), 1)]
    const third = slots.take(reader('c'), 90)
    one.planned()
    const large = await third
    const fourth = slots.take(reader('d'), 20)
    two.end()
    large.end()
    await fourth
  })

  test('are waited for by a few, of one address or network at most its share, and whoever leaves waits no more', async () => {
    const slots = new ArchiveSlots(systemClock, { ...LIMITS, planning: 1, patience: 20_000 })
    const first = await slots.take(reader('a'), 1)
    const leaving = new AbortController()
    const gone = slots.take(reader('b', leaving.signal), 1)
    const second = slots.take(reader('b'), 1)
    await expect(slots.take(reader('b'), 1)).rejects.toBeInstanceOf(Refusal)
    const third = slots.take(reader('c'), 1)
    leaving.abort()
    await expect(gone).rejects.toMatchObject({ name: 'AbortError' })
    const another = slots.take(reader('b'), 1)
    const fourth = slots.take(reader('d'), 1)
    await expect(second).rejects.toMatchObject(busy)
    first.end()
    ;(await third).end()
    ;(await another).end()
    ;(await fourth).end()
  })

  test('let a plan that is larger than all there is be made by itself', async () => {
    const slots = new ArchiveSlots(systemClock, LIMITS)
    const huge = await slots.take(reader('a'), 1_000_000)
    huge.planned()
    await expect(slots.take(reader('b'), 1)).rejects.toMatchObject(busy)
    huge.end()
    await slots.take(reader('b'), 1)
  })
})

describe('zip plans of a server', () => {
  let holdfast: TestHoldfast
  let owner: Api
  let folder: string
  beforeAll(async () => {
    holdfast = await startHoldfast({ trustedProxies: ['127.0.0.1'] })
    owner = await newcomer(holdfast)
    folder = await owner.folder('large')
    await owner.put(new Uint8Array(16 * 1024 * 1024), { folder })
  })
  afterAll(() => holdfast.stop())

  const zip = (method: string, address = '203.0.113.1') =>
    api(atNode(holdfast)).send(`/f/${folder}?download=zip`, {
      method,
      headers: { 'x-forwarded-for': address },
    })

  test('end with their answers: there may be any number one after another', async () => {
    const more = ARCHIVE_LIMITS.held.each.holders + 8
    for (let count = 0; count < more; count++) expect((await zip('HEAD')).status).toBe(200)
    for (let count = 0; count < more; count++) {
      const headers = {
        'x-forwarded-for': '203.0.113.1',
        range: count % 2 === 0 ? 'bytes=0-9' : 'bytes=99999999999-',
      }
      const path = `/f/${folder}?download=zip`
      const answer = await api(atNode(holdfast)).send(path, { headers })
      expect(answer.status).toBe(count % 2 === 0 ? 206 : 416)
    }
  })

  test('are held by clients that never read, up to a ceiling for each address', async () => {
    const node = atNode(holdfast).url
    const request = `GET /f/${folder}?download=zip HTTP/1.1\r\nHost: ${new URL(node).host}\r\nX-Forwarded-For: 203.0.113.2\r\n\r\n`
    const idle: RawConnection[] = []
    for (let count = 0; count < ARCHIVE_LIMITS.held.each.holders; count++) {
      const connection = await openRaw(node, { readsLate: true })
      // A slot comes after those before it: this one's plan is made when the next is answered.
      if (count > 0) expect((await zip('HEAD', '203.0.113.2')).status).toBe(200)
      await connection.send(request)
      idle.push(connection)
    }
    // More than wait for a slot, so that some are refused at once.
    const asked = Array.from({ length: ARCHIVE_LIMITS.waiting.each.holders + 8 }, () =>
      zip('HEAD', '203.0.113.2'),
    )
    const refused = await Promise.any(
      asked.map(async (answer) => {
        expect((await answer).status).toBe(503)
        return answer
      }),
    )
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await zip('HEAD', '203.0.113.3')).status).toBe(200)
    for (const connection of idle) connection.destroy()
    await Promise.all(asked)
    await eventually('the plans have ended', async () => (await zip('HEAD', '203.0.113.2')).status === 200)
  })

  test('of folders inside each other have every file once', async () => {
    const chain: string[] = []
    for (let depth = 0; depth < 20; depth++) {
      const parent = chain.at(-1)
      chain.push(await owner.folder(`level-${depth}`, parent === undefined ? {} : { parent }))
    }
    await owner.put('at the bottom', { folder: chain.at(-1) ?? '', name: 'once.txt' })
    const signed = await owner.post('/api/v1/files/download', { folders: chain.toReversed() })
    const { data } = z.object({ data: z.object({ url: z.string() }) }).parse(signed.body)
    const zipped = await visit(holdfast, data.url)
    expect(zipped.status).toBe(200)
    const bytes = Buffer.from(await zipped.arrayBuffer())
    const entries = bytes.toString('latin1').split('PK\x01\x02').length - 1
    expect(entries).toBe(chain.length + 1)
  })
})

test('the refusal of a zip plan is one of the list', () => {
  expect(refusal('SERVER_BUSY')).toMatchObject({ status: 503 })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SqlBool, sql } from 'kysely'
import { DAY, HOUR } from '../../../src/domain/clock.ts'
import {
  type Answer,
  api,
  newcomer,
  refusal,
  type Uploaded,
  withHoldfast,
} from '../../support/clients/api.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const PROXIED = { trustedProxies: ['127.0.0.1', '::1'] }

const from = (address: string) => ({ 'x-forwarded-for': address })

/** Lets it be noon, so that no test runs past the end of a day. */
function untilNoon({ clock }: TestHoldfast): void {
  clock.advance((DAY * 1.5 - (clock.now() % DAY)) % DAY)
}

function report(
  host: TestHoldfast,
  slug: string,
  said: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return api(host).post('/api/v1/file/report', { slug, ...said }, headers)
}

const ofFile = (file: Uploaded) => sql<SqlBool>`file_id = ${file.file_id}`

/** What is kept about the file, the oldest first. */
function kept(host: TestHoldfast, file: Uploaded) {
  return host.database.selectFrom('reports').selectAll().where(ofFile(file)).orderBy('id').execute()
}

describe('a report', () => {
  let host: TestHoldfast
  let addresses = 0
  /** An address that has reported nothing yet. */
  const somebody = () => from(`198.51.100.${++addresses}`)

  beforeAll(async () => {
    host = await startHoldfast(PROXIED)
    untilNoon(host)
  })
  afterAll(() => host.stop())

  test('is kept with the file as it was, and outlives it', async () => {
    const owner = await newcomer(host)
    const file = await owner.put('bytes', { name: 'figures.pdf' })
    const said = { reason: 'copyright', text: 'The figures are ours.\r\nSee page 3.' }
    expect(await report(host, file.slug, said, somebody())).toMatchObject({
      status: 200,
      body: { success: true },
    })
    await owner.patch(`/api/v1/file/${file.slug}`, { name: 'innocent.pdf' })
    await owner.post('/file/delete', { identifiers: [file.slug] })
    await host.runJobs()
    expect(await kept(host, file)).toMatchObject([
      {
        slug: file.slug,
        name: 'figures.pdf',
        sha256: file.sha256,
        reason: 'copyright',
        text: 'The figures are ours.\nSee page 3.',
        state: 'open',
        closed_at: null,
      },
    ])
  })

  test.each([
    ['slug', 'a number', { slug: 7, reason: 'other' }],
    ['reason', 'none', {}],
    ['reason', 'one that is not in the list', { reason: 'ugly' }],
    ['reason', 'null', { reason: null }],
    ['text', 'a number', { reason: 'other', text: 7 }],
    ['text', '2,001 characters', { reason: 'other', text: 'a'.repeat(2001) }],
  ])('with a wrong %s is refused and the field named: %s', async (field, _what, body) => {
    const file = await api(host).put('x')
    const answer = await report(host, file.slug, body, somebody())
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toHaveProperty('message', expect.stringContaining(`"${field}"`))
    expect(await kept(host, file)).toEqual([])
  })

  test('names its file by slug alone, so that nobody finds files by counting', async () => {
    const file = await api(host).put('x')
    for (const other of [String(file.file_id), file.uuid, 'Zz0000000000', 'x'.repeat(300), '\0']) {
      const answer = await report(host, other, { reason: 'other' }, somebody())
      expect(answer).toMatchObject(refusal('FILE_NOT_FOUND'))
    }
    expect(await kept(host, file)).toEqual([])
  })

  test('of the same address on the same day takes the place of the first, with the same answer', async () => {
    const file = await api(host).put('x')
    const another = await api(host).put('y')
    const address = somebody()
    const first = await report(host, file.slug, { reason: 'spam', text: 'first' }, address)
    const second = await report(host, file.slug, { reason: 'malware', text: 'second' }, address)
    const third = await report(host, file.slug, { reason: 'malware' }, address)
    await report(host, another.slug, { reason: 'spam' }, address)
    expect([second.status, third.status]).toEqual([200, 200])
    expect([second.body, third.body]).toEqual([first.body, first.body])
    expect(await kept(host, file)).toMatchObject([{ reason: 'malware', text: 'second' }])
    expect(await kept(host, another)).toHaveLength(1)
  })

  test('of another address is one of its own, and neither tells the address', async () => {
    const file = await api(host).put('x')
    const another = await api(host).put('y')
    const address = somebody()
    await report(host, file.slug, { reason: 'spam' }, address)
    await report(host, another.slug, { reason: 'spam' }, address)
    await report(host, file.slug, { reason: 'other' }, somebody())
    const rows = [...(await kept(host, file)), ...(await kept(host, another))]
    expect(rows).toHaveLength(3)
    expect(new Set(rows.map(({ reporter }) => reporter)).size).toBe(3)
    expect(JSON.stringify(rows)).not.toContain('198.51.100')
  })

  test('sent many times at once is kept once', async () => {
    const file = await api(host).put('x')
    const address = somebody()
    const body = { reason: 'spam', text: 'again' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => report(host, file.slug, body, address)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await kept(host, file)).toHaveLength(1)
  })

  test('that was closed is not opened by a repeat', async () => {
    const file = await api(host).put('x')
    const address = somebody()
    await report(host, file.slug, { reason: 'spam' }, address)
    await host.database
      .updateTable('reports')
      .set({ state: 'dismissed', closed_at: host.clock.now() })
      .where(ofFile(file))
      .execute()
    expect(await report(host, file.slug, { reason: 'malware' }, address)).toMatchObject({ status: 200 })
    expect(await kept(host, file)).toMatchObject([{ reason: 'spam', state: 'dismissed' }])
  })

  test('of a file whose bytes are still coming has to wait', async () => {
    const started = await api(host).send('/api/v1/uploads', {
      method: 'POST',
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '10' },
    })
    const slug = started.headers.get('holdfast-slug') ?? ''
    const answer = await report(host, slug, { reason: 'spam' }, somebody())
    expect(answer).toMatchObject(refusal('FILE_ARRIVING'))
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('reports of one address', () => {
  test('are ten an hour with their repeats, and what is refused for another reason does not count', () =>
    withHoldfast(PROXIED, async (host) => {
      const file = await api(host).put('x')
      const last = await api(host).put('y')
      const address = from('198.51.100.1')
      await report(host, file.slug, { reason: 'ugly' }, address)
      await report(host, 'Zz0000000000', { reason: 'spam' }, address)
      for (let index = 0; index < 10; index += 1) {
        expect(await report(host, file.slug, { reason: 'spam' }, address)).toMatchObject({ status: 200 })
      }
      const refused = await report(host, last.slug, { reason: 'spam' }, address)
      expect(refused).toMatchObject(refusal('RATE_LIMITED'))
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3600)
      expect(await kept(host, last)).toEqual([])
      expect(await report(host, last.slug, { reason: 'spam' }, from('198.51.100.2'))).toMatchObject({
        status: 200,
      })
      host.clock.advance(HOUR)
      expect(await report(host, last.slug, { reason: 'other' }, address)).toMatchObject({ status: 200 })
    }))
})

describe('what is kept of a report', () => {
  test('tells repeats apart until the day is over, and nothing of who sent it after that', () =>
    withHoldfast(PROXIED, async (host) => {
      untilNoon(host)
      const file = await api(host).put('x')
      const address = from('198.51.100.1')
      await report(host, file.slug, { reason: 'spam' }, address)
      await host.runJobs()
      expect(await kept(host, file)).toMatchObject([{ reporter: expect.any(String) }])
      host.clock.advance(DAY)
      await host.runJobs()
      expect(await kept(host, file)).toMatchObject([{ reason: 'spam', reporter: null }])
      await report(host, file.slug, { reason: 'malware' }, address)
      expect(await kept(host, file)).toMatchObject([
        { reason: 'spam', reporter: null },
        { reason: 'malware', reporter: expect.any(String) },
      ])
    }))

  test('goes 180 days after it was closed, and not before somebody has closed it', () =>
    withHoldfast(PROXIED, async (host) => {
      const closed = await api(host).put('x')
      const open = await api(host).put('y')
      await report(host, closed.slug, { reason: 'spam' })
      await report(host, open.slug, { reason: 'spam' })
      host.clock.advance(DAY)
      await host.database
        .updateTable('reports')
        .set({ state: 'dismissed', closed_at: host.clock.now() })
        .where(ofFile(closed))
        .execute()
      host.clock.advance(180 * DAY - HOUR)
      await host.runJobs()
      expect(await kept(host, closed)).toHaveLength(1)
      host.clock.advance(2 * HOUR)
      await host.runJobs()
      expect(await kept(host, closed)).toEqual([])
      expect(await kept(host, open)).toHaveLength(1)
    }))
})

/** Uploads without a byte: what one client starts of them leaves room for all others, and they end after an hour. */
// Only in test:all: thousands of uploads; shares.test.ts has the rule.
import { describe, expect, test } from 'bun:test'
import { HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import { GUESTS } from '../../../../src/domain/ids.ts'
import { MOST_EMPTY, MOST_EMPTY_OF_ADDRESS } from '../../../../src/uploads/resumable/creation.ts'
import { type Api, api, newcomer, refusal, withHoldfast } from '../../../support/clients/api.ts'
import { tus } from '../../../support/clients/tus.ts'
import { startInParts } from '../../../support/clients/tus-parts.ts'
import { addUploadsLike } from '../../../support/databases/uploads-like.ts'
import type { TestHoldfast } from '../../../support/servers/holdfast.ts'

const PROXIED = { trustedProxies: ['127.0.0.1'] }
const at = (address: string) => ({ 'upload-length': '10', 'x-forwarded-for': address })

const openOnes = ({ database }: TestHoldfast) =>
  database
    .selectFrom('uploads')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', GUESTS)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()

describe('10,000 uploads without a byte', () => {
  test('from 100 addresses of one network leave room for guests from elsewhere, one for one', () =>
    withHoldfast(PROXIED, async (holdfast) => {
      const guest = tus(api(holdfast))
      const first = await guest.create(at('198.51.100.1'))
      const slug = first.headers.get('holdfast-slug') ?? ''
      const now = holdfast.clock.now()
      const origins = Array.from({ length: 100 }, (_each, number) => ({
        network: 'of the attacker',
        subnet: null,
        address: `address ${number}`,
      }))
      // The one that is idle longest is in the middle, and 50 s are not long enough to be called so.
      await addUploadsLike(
        holdfast,
        slug,
        MOST_EMPTY,
        origins,
        (number) => now - (number === 4711 ? 50_000 : 0),
      )
      const before = Number((await openOnes(holdfast)).count)
      expect(await guest.create(at('203.0.113.7'))).toMatchObject({ status: 201 })
      expect(await guest.create(at('2001:db8::7'))).toMatchObject({ status: 201 })
      expect(Number((await openOnes(holdfast)).count)).toBe(before)
      const ended = holdfast.database
        .selectFrom('uploads')
        .select(['name', 'state'])
        .where('ended_at', 'is not', null)
      const rows = await ended.execute()
      expect(rows).toHaveLength(2)
      for (const { state } of rows) expect(state).toBe('failed')
      expect(await guest.head(first.headers.get('location') ?? '')).toMatchObject({ status: 200 })
      await (await newcomer(holdfast)).put('an account')
    }))
})

describe('an upload without a byte', () => {
  const starts = async (by: Api, headers: Readonly<Record<string, string>> = {}) => {
    const created = await tus(by).create({ 'upload-length': '10', ...headers })
    expect(created.status).toBe(201)
    return created.headers.get('location') ?? ''
  }

  test('ends an hour after it was started, and one with a byte after its 24 hours', () =>
    withHoldfast(PROXIED, async (holdfast) => {
      const guest = api(holdfast)
      const empty = await starts(guest)
      const begun = await starts(guest, { 'x-forwarded-for': '203.0.113.2' })
      await tus(guest).patch(begun, 0, new Uint8Array(1), { 'x-forwarded-for': '203.0.113.2' })
      holdfast.clock.advance(HOUR - MINUTE)
      await holdfast.runJobs()
      expect((await tus(guest).head(empty)).status).toBe(200)
      holdfast.clock.advance(2 * MINUTE)
      await holdfast.runJobs()
      expect((await tus(guest).head(empty)).status).toBe(410)
      expect((await tus(guest).head(begun)).status).toBe(200)
      holdfast.clock.advance(22 * HOUR)
      await holdfast.runJobs()
      expect(await tus(guest).patch(begun, 1, new Uint8Array(9))).toMatchObject({ status: 204 })
    }))

  test.each(['a resumable upload', 'a form'])(
    'waits for an hour after the last byte from its account or address, by %s, and for no other’s',
    (way) =>
      withHoldfast(PROXIED, async (holdfast) => {
        const from = (address: string) => ({ 'x-forwarded-for': address })
        const guest = api(holdfast)
        const owner = await newcomer(holdfast)
        const waiting = [await starts(guest, from('203.0.113.1')), await starts(owner)]
        const others = [await starts(guest, from('203.0.113.2')), await starts(await newcomer(holdfast))]
        holdfast.clock.advance(50 * MINUTE)
        for (const [by, headers] of [
          [guest, from('203.0.113.1')],
          [owner, {}],
        ] as const) {
          if (way === 'a form') {
            expect((await by.upload('abc', { headers })).status).toBe(200)
            continue
          }
          const created = await starts(by, headers)
          expect((await tus(by).patch(created, 0, new Uint8Array(1), headers)).status).toBe(204)
        }
        holdfast.clock.advance(30 * MINUTE)
        await holdfast.runJobs()
        const status = async (path: string) => {
          const [guests, owners] = await Promise.all([tus(guest).head(path), tus(owner).head(path)])
          return Math.min(guests.status === 401 ? 999 : guests.status, owners.status)
        }
        for (const path of waiting) expect(await status(path)).toBe(200)
        expect((await tus(guest).head(others[0] ?? '')).status).toBe(410)
        holdfast.clock.advance(31 * MINUTE)
        await holdfast.runJobs()
        for (const path of waiting) expect(await status(path)).toBe(410)
      }),
  )

  test('that is made of parts is not empty once one of them has a byte', () =>
    withHoldfast({}, async (holdfast) => {
      const owner = await newcomer(holdfast)
      const begun = await startInParts(tus(owner), 10, 5)
      const [first = '', second = ''] = begun.parts
      expect((await tus(owner).patch(first, 0, new Uint8Array(3))).status).toBe(204)
      holdfast.clock.advance(5 * HOUR)
      await holdfast.runJobs()
      expect((await tus(owner).patch(second, 0, new Uint8Array(5))).status).toBe(204)
      expect((await tus(owner).patch(first, 3, new Uint8Array(2))).status).toBe(204)
      expect((await tus(owner).head(begun.path)).status).toBe(200)
      const empty = await startInParts(tus(owner), 10, 5)
      holdfast.clock.advance(HOUR + MINUTE)
      await holdfast.runJobs()
      for (const path of [empty.path, ...empty.parts]) {
        expect(await tus(owner).head(path)).toMatchObject({ status: 410 })
      }
    }))
})

test('an office behind one address, of whose pages each starts fifty ahead, is refused nothing until there are twenty of them', () =>
  withHoldfast(PROXIED, async (holdfast) => {
    const guest = tus(api(holdfast))
    const first = await guest.create(at('203.0.113.1'))
    const slug = first.headers.get('holdfast-slug') ?? ''
    const now = holdfast.clock.now()
    await addUploadsLike(holdfast, slug, 19 * 50 - 1, [{}], () => now)
    for (let count = 0; count < 50; count++) {
      expect(await guest.create(at('203.0.113.1'))).toMatchObject({ status: 201 })
    }
    expect(Number((await openOnes(holdfast)).count)).toBe(MOST_EMPTY_OF_ADDRESS)
    const refused = await guest.create(at('203.0.113.1'))
    expect(refused).toMatchObject(refusal('RATE_LIMITED'))
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }))

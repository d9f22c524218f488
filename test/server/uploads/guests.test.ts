import { describe, expect, test } from 'bun:test'
import { HOUR } from '../../../src/domain/clock.ts'
import { api, newcomer, refusal, withHoldfast } from '../../support/clients/api.ts'
import { eventually } from '../../support/eventually.ts'
import { openUpload } from '../../support/network/raw-upload.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

const host = await hostOfFile()

describe('a guest', () => {
  test('uploads and gets a link that works', async () => {
    const file = await api(host).put('from a guest', { name: 'guest.txt' })
    const response = await fetch(`${file.url}?download=1`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('from a guest')
  })

  test('gets no rate headers, for there is no key to count', async () => {
    const { headers } = await api(host).upload('x')
    expect(headers.get('ratelimit-limit')).toBeNull()
  })

  test('may upload 1,000 times an hour without a setting: the hundredth is not refused', async () => {
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => api(host).put('x')))
    }
  })

  test('is refused where guest uploads are switched off, while a key goes on', () =>
    withHoldfast({ guestUploads: false }, async (holdfast) => {
      expect(await api(holdfast).upload('x')).toMatchObject(refusal('GUEST_UPLOADS_DISABLED'))
      await (await newcomer(holdfast)).put('x')
      expect(await api(holdfast, 'hf_unknown').upload('x')).toMatchObject(refusal('INVALID_API_KEY'))
    }))
})

describe('the hourly limit of guests', () => {
  test('counts uploads, and is over after an hour', () =>
    withHoldfast({ guestRateLimit: 2 }, async (holdfast) => {
      const guest = api(holdfast)
      await guest.put('1')
      await guest.put('2')
      const refused = await guest.upload('3')
      expect(refused).toMatchObject(refusal('RATE_LIMITED'))
      const wait = Number(refused.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(3600)
      await (await newcomer(holdfast)).put('a key goes on')
      holdfast.clock.advance(HOUR)
      await guest.put('4')
    }))

  test('counts bytes', () =>
    withHoldfast({ guestHourlySize: 1000 }, async (holdfast) => {
      const guest = api(holdfast)
      await guest.put('x'.repeat(900))
      expect(await guest.upload('x'.repeat(200))).toMatchObject(refusal('RATE_LIMITED'))
      expect(await guest.upload('x'.repeat(200), { chunked: true })).toMatchObject(refusal('RATE_LIMITED'))
      await (await newcomer(holdfast)).put('x'.repeat(2000))
      holdfast.clock.advance(HOUR)
      await guest.put('x'.repeat(900))
    }))

  test('counts no more bytes than came, also of an upload without a length', () =>
    withHoldfast({ guestHourlySize: 9 * 1024 * 1024 }, async (holdfast) => {
      const guest = api(holdfast)
      expect(await guest.upload('x', { chunked: true })).toMatchObject({ status: 200 })
      await guest.put('x'.repeat(8 * 1024 * 1024))
    }))

  test('is not given back from an hour that an upload did not count in', () =>
    withHoldfast({ guestHourlySize: 1000 }, async (holdfast) => {
      const guest = api(holdfast)
      const old = await openUpload(holdfast.url, { size: 900 })
      await old.send(new Uint8Array(10))
      await eventually(
        'the room of the upload is taken',
        async () => (await guest.upload('x'.repeat(200))).status === 429,
      )
      holdfast.clock.advance(HOUR)
      await guest.put('x'.repeat(900))
      old.abort()
      // When the server has noticed cannot be seen from outside, so the answer has to hold for a while.
      for (let round = 0; round < 20; round += 1) {
        expect(await guest.upload('x'.repeat(900))).toMatchObject(refusal('RATE_LIMITED'))
        await Bun.sleep(20)
      }
    }))

  test('is never passed by uploads at once', () =>
    withHoldfast({ guestRateLimit: 5 }, async (holdfast) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => api(holdfast).upload('x')))
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5)
      expect(answers.filter((answer) => answer.status === 429)).toHaveLength(15)
    }))

  test('goes by the socket: a forwarded address from anybody counts for nothing', () =>
    withHoldfast({ guestRateLimit: 1 }, async (holdfast) => {
      await api(holdfast).put('x', from('203.0.113.1'))
      expect(await api(holdfast).upload('x', from('203.0.113.2'))).toMatchObject(refusal('RATE_LIMITED'))
    }))

  test.each(['127.0.0.1', '127.0.0.0/8'])(
    'goes by the forwarded address from the trusted proxy %s',
    (proxy) =>
      withHoldfast({ guestRateLimit: 1, trustedProxies: [proxy] }, async (holdfast) => {
        await api(holdfast).put('x', from('203.0.113.1'))
        expect(await api(holdfast).upload('x', from('203.0.113.1'))).toMatchObject(refusal('RATE_LIMITED'))
        await api(holdfast).put('x', from('203.0.113.2'))
        // What stands before the last address that is not a trusted proxy's was written by the guest.
        const forged = from('198.51.100.7, 203.0.113.2')
        expect(await api(holdfast).upload('x', forged)).toMatchObject(refusal('RATE_LIMITED'))
      }),
  )
})

describe('the storage of all guests together', () => {
  test('refuses what has no room, with a length or without, while a key goes on', () =>
    withHoldfast({ guestStorage: 1000 }, async (holdfast) => {
      const guest = api(holdfast)
      await guest.put('x'.repeat(900))
      for (const chunked of [false, true]) {
        const refused = await guest.upload('x'.repeat(101), { chunked })
        expect(refused).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
        expect(refused.body).toMatchObject({ reason: 'guests' })
      }
      await guest.put('x'.repeat(100))
      await (await newcomer(holdfast)).put('x'.repeat(5000))
    }))

  test('is filled by uploads at once to the last byte that fits, and never passed', () =>
    withHoldfast({ guestStorage: 5000 }, async (holdfast) => {
      const content = 'x'.repeat(1000)
      const answers = await Promise.all(Array.from({ length: 20 }, () => api(holdfast).upload(content)))
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5)
      expect(answers.filter((answer) => answer.status === 503)).toHaveLength(15)
    }))

  test('is not the limit of an account', () =>
    withHoldfast({ storageLimit: 10 }, async (holdfast) => {
      await api(holdfast).put('x'.repeat(100))
    }))
})

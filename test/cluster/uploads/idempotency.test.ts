/** A plain upload that is sent again with its Idempotency-Key. */
import { expect, test } from 'bun:test'
import type { AccountId } from '../../../src/domain/ids.ts'
import { stored } from '../../support/clients/answers.ts'
import { type Api, api, newcomer, refusal } from '../../support/clients/api.ts'
import { eventually } from '../../support/eventually.ts'
import { openUpload } from '../../support/network/raw-upload.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const KEY = 'f3b1c9e0-8a75-4d0e-9c37-2f5b6a1d8e44'
const HOUR = 3_600_000

const holdfast = await hostOfFile({ maxFileSize: 1000, trustedProxies: ['127.0.0.1'] })

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

async function filesOf(caller: Api): Promise<number> {
  return (await stored(caller)).files_count
}

test('the same key answers the first result, and nothing is stored twice', async () => {
  const caller = await newcomer(holdfast)
  const first = await caller.upload('once', { ...keyed(KEY), name: 'a.txt' })
  expect(first.status).toBe(200)
  const again = await caller.upload('once', { ...keyed(KEY), name: 'a.txt' })
  expect(again).toMatchObject({ status: 200, body: first.body })
  expect(await filesOf(caller)).toBe(1)
})

test('many at once are one', async () => {
  const caller = await newcomer(holdfast)
  const answers = await Promise.all(Array.from({ length: 8 }, () => caller.upload('once', keyed(KEY))))
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body })
  expect(await filesOf(caller)).toBe(1)
})

test('another key, another account and no key are other uploads', async () => {
  const [caller, other] = [await newcomer(holdfast), await newcomer(holdfast)]
  await caller.put('a', keyed('one'))
  await caller.put('a', keyed('two'))
  await caller.put('a')
  await other.put('a', keyed('one'))
  expect([await filesOf(caller), await filesOf(other)]).toEqual([3, 1])
})

test('a first request that was refused does not stand in the way of the next', async () => {
  const caller = await newcomer(holdfast)
  expect(await caller.upload('x'.repeat(2000), keyed(KEY))).toMatchObject(refusal('FILE_TOO_LARGE'))
  expect(await caller.upload('fits', keyed(KEY))).toMatchObject({ status: 200 })
  expect(await filesOf(caller)).toBe(1)
})

test('after 24 hours the key is new', async () => {
  const caller = await newcomer(holdfast)
  const first = await caller.put('a', keyed(KEY))
  holdfast.clock.leap(25 * HOUR)
  expect((await caller.put('a', keyed(KEY))).slug).not.toBe(first.slug)
  await holdfast.runJobs()
  holdfast.clock.leap(25 * HOUR)
  await holdfast.runJobs()
  expect(await holdfast.database.selectFrom('idempotency_keys').select('hash').execute()).toEqual([])
})

test('a key used again for another name, folder or length is refused, and stores nothing', async () => {
  const caller = await newcomer(holdfast)
  const folder = await caller.folder('elsewhere')
  const first = await caller.upload('once', { ...keyed(KEY), name: 'a.txt' })
  for (const chunked of [false, true]) {
    const again = (content: string, more: { name?: string; folder?: string }) =>
      caller.upload(content, { ...keyed(KEY), name: 'a.txt', chunked, ...more })
    expect(await again('once', { name: 'b.txt' })).toMatchObject(refusal('IDEMPOTENCY_MISMATCH'))
    expect(await again('once', { folder })).toMatchObject(refusal('IDEMPOTENCY_MISMATCH'))
    expect(await again('longer', {})).toMatchObject(refusal('IDEMPOTENCY_MISMATCH'))
    expect(await again('one', {})).toMatchObject(refusal('IDEMPOTENCY_MISMATCH'))
    expect(await again('once', {})).toMatchObject({ status: 200, body: first.body })
  }
  expect(await filesOf(caller)).toBe(1)
})

test('a request that is sent again is answered though the account is full by now', async () => {
  const { id, apiKey } = await holdfast.addAccount()
  const caller = api(holdfast, apiKey)
  const first = await caller.upload('once', keyed(KEY))
  await holdfast.database
    .updateTable('accounts')
    .set({ quota: 4 })
    .where('id', '=', id as AccountId)
    .execute()
  expect(await caller.upload('once', keyed(KEY))).toMatchObject({ status: 200, body: first.body })
})

test('while the first is under way others wait, and when it takes long, or too many wait, they get 409', async () => {
  const { apiKey } = await holdfast.addAccount()
  const caller = api(holdfast, apiKey)
  const first = await openUpload(holdfast.nodeUrl, { key: apiKey, size: 4, idempotencyKey: KEY })
  const hash = holdfast.database.selectFrom('idempotency_keys').select('hash').where('result', 'is', null)
  await eventually('the key is taken', async () => (await hash.execute()).length > 0)
  // More than may wait at each of three nodes.
  const waiting = Array.from({ length: 60 }, () => caller.upload('once', keyed(KEY)))
  const refused = await Promise.race(waiting)
  expect(refused).toMatchObject(refusal('REQUEST_UNDER_WAY'))
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  holdfast.clock.advance(30_000)
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject(refusal('REQUEST_UNDER_WAY'))
  first.abort()
})

test('a guest’s key has to be long, and is good from the same address alone', async () => {
  const guest = api(holdfast)
  expect(await guest.upload('a', keyed('short'))).toMatchObject(refusal('INVALID_REQUEST'))
  const first = await guest.put('a', keyed(KEY))
  expect((await guest.put('a', keyed(KEY))).slug).toBe(first.slug)
  const from = { headers: { 'idempotency-key': KEY, 'x-forwarded-for': '203.0.113.9' } }
  expect((await guest.put('a', from)).slug).not.toBe(first.slug)
})

test('a key that is too long is refused', async () => {
  const caller = await newcomer(holdfast)
  expect(await caller.upload('a', keyed('x'.repeat(256)))).toMatchObject(refusal('INVALID_REQUEST'))
  expect(await filesOf(caller)).toBe(0)
})

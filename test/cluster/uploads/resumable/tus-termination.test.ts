/** The extensions termination and expiration. */
import { beforeAll, expect, test } from 'bun:test'
import { wholeSum } from '../../../../src/database/differences.ts'
import { chance } from '../../../support/chance.ts'
import { type Answer, type Api, api, newcomer, refusal } from '../../../support/clients/api.ts'
import { openPatch, type Tus, tus } from '../../../support/clients/tus.ts'
import { eventually } from '../../../support/eventually.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const MB = 1024 * 1024
const HOUR = 3_600_000
const MINUTE = 60_000
const random = chance(7)

let caller: Api
let client: Tus
const holdfast = await hostOfFile({ guestRateLimit: 1000, rateLimit: 10_000, uploadExpires: 24 })
beforeAll(async () => {
  caller = await newcomer(holdfast)
  client = tus(caller)
})

/** What uploads hold at present: room, rows that are not over, and blobs. */
async function held() {
  const db = holdfast.database
  const { reserved } = await db
    .selectFrom('accounts')
    .select(wholeSum(db, 'storage_reserved').as('reserved'))
    .executeTakeFirstOrThrow()
  const open = await db.selectFrom('uploads').select('id').where('ended_at', 'is', null).execute()
  return { reserved, open: open.length, blobs: (await holdfast.storedBlobs()).length }
}

/** Lets garbage come of age, and removes it. */
async function clearUp(): Promise<void> {
  await holdfast.runJobs()
  holdfast.clock.leap(2 * 60_000)
  await holdfast.runJobs()
}

test('DELETE gives an upload up, with its bytes and its room', async () => {
  const before = await held()
  const { path } = await client.start(10 * MB)
  await client.patch(path, 0, random.bytes(6 * MB))
  expect((await client.remove(path)).status).toBe(204)
  expect((await client.head(path)).status).toBe(404)
  expect(await client.patch(path, 6 * MB, random.bytes(1))).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
  expect(await client.remove(path)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
  await clearUp()
  expect(await held()).toEqual(before)
})

test('DELETE of a completed upload leaves its file', async () => {
  const { path, slug } = await client.start(5)
  await client.patch(path, 0, random.bytes(5))
  expect((await client.remove(path)).status).toBe(204)
  expect((await client.head(path)).status).toBe(404)
  expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject({ status: 200 })
})

/** Milliseconds since the epoch. The date is to be of the one form that RFC 9110 §5.6.7 has servers send. */
function expiry({ headers }: Answer): number {
  const text = headers.get('upload-expires') ?? ''
  expect(text).toMatch(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/)
  return Date.parse(text)
}

test('every answer tells when an upload without another byte expires', async () => {
  const created = await client.create({ 'upload-length': '10' })
  const path = created.headers.get('location') ?? ''
  const first = expiry(created)
  expect(Math.abs(first - (holdfast.clock.now() + HOUR))).toBeLessThan(60_000)
  expect(expiry(await client.head(path))).toBe(first)
  holdfast.clock.advance(HOUR / 2)
  const second = expiry(await client.patch(path, 0, random.bytes(5)))
  expect(Math.abs(second - (holdfast.clock.now() + 24 * HOUR))).toBeLessThan(60_000)
  holdfast.clock.advance(5 * HOUR)
  const third = expiry(await client.patch(path, 5, random.bytes(1)))
  expect(third - second).toBeGreaterThan(4 * HOUR)
})

test('an upload that expired is 410, before anything has cleared it and after, and 404 a day later', async () => {
  const { path } = await client.start(10)
  await client.patch(path, 0, random.bytes(5))
  holdfast.clock.advance(25 * HOUR)
  const expectGone = async () => {
    expect((await client.head(path)).status).toBe(410)
    expect(await client.look(path)).toMatchObject(refusal('UPLOAD_GONE'))
    expect(await client.patch(path, 5, random.bytes(5))).toMatchObject(refusal('UPLOAD_GONE'))
  }
  await expectGone()
  await holdfast.runJobs()
  await expectGone()
  holdfast.clock.advance(25 * HOUR)
  await holdfast.runJobs()
  expect((await client.head(path)).status).toBe(404)
})

test('an upload does not age while the service is away, and Upload-Expires says so', async () => {
  const { path } = await client.start(10)
  await client.patch(path, 0, random.bytes(5))
  const ends = async () => Date.parse((await client.head(path)).headers.get('upload-expires') ?? '')
  const before = await ends()
  holdfast.clock.leap(30 * HOUR)
  // Asked before anything has noted that the service was away.
  expect((await client.head(path)).status).toBe(200)
  // The service was away since it was last noted to be there, which was before the leap.
  const gained = (await ends()) - before - 30 * HOUR
  expect(gained).toBeGreaterThanOrEqual(0)
  expect(gained).toBeLessThan(MINUTE)
  await holdfast.runJobs()
  expect((await client.patch(path, 5, random.bytes(1))).status).toBe(204)
  holdfast.clock.leap(2 * HOUR)
  await holdfast.restart()
  holdfast.clock.advance(23 * HOUR)
  await holdfast.runJobs()
  expect((await client.head(path)).status).toBe(200)
  // So much of its time was left.
  holdfast.clock.advance(HOUR + MINUTE)
  expect((await client.head(path)).status).toBe(410)
})

test('bytes keep an upload alive', async () => {
  const { path } = await client.start(10)
  for (let offset = 0; offset < 4; offset++) {
    holdfast.clock.advance(20 * HOUR)
    expect((await client.patch(path, offset, random.bytes(1))).status).toBe(204)
    await holdfast.runJobs()
  }
  expect(await client.offset(path)).toBe(4)
})

/** Sends so much of a request, and leaves; returns when what came of it is kept. */
async function cutIn(path: string, length: number, sent: number): Promise<void> {
  const patch = await openPatch(holdfast.url, path, { offset: 0, length })
  await patch.send(random.bytes(sent))
  patch.destroy()
  await eventually('what came is kept', async () => (await tus(api(holdfast)).offset(path)) > sent / 2)
}

test('200 uploads that nobody finished leave nothing behind once they expired', async () => {
  await clearUp()
  const before = await held()
  const guest = tus(api(holdfast))
  const begin = async (number: number) => {
    const by = number % 2 === 0 ? client : guest
    const isCut = number % 50 === 1
    const size = number % 5 === 0 ? null : isCut ? 12 * MB : MB
    const { path } = await by.start(size, { filename: `${number}.bin` })
    if (isCut) return cutIn(path, 12 * MB, 6 * MB)
    const sent = random.bytes((number % 3) * 40_000)
    if (sent.length > 0) await by.patch(path, 0, sent)
  }
  for (let at = 0; at < 200; at += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, number) => begin(at + number)))
  }
  expect((await held()).open).toBe(before.open + 200)
  expect(await caller.get('/api/v1/account')).toMatchObject({ body: { data: { files_count: 1 } } })
  holdfast.clock.advance(25 * HOUR)
  await clearUp()
  const after = await held()
  expect(after).toMatchObject({ reserved: 0, open: 0 })
  expect(after.blobs).toBeLessThanOrEqual(before.blobs)
})

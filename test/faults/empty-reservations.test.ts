/** Guests who promise bytes and send none, or few: nobody else may be kept out by that. */
import { describe, expect, test } from 'bun:test'
import { GUESTS } from '../../src/domain/ids.ts'
import { GUEST_STEP } from '../../src/uploads/reservations.ts'
import { MOST_EMPTY_OF_ADDRESS } from '../../src/uploads/resumable/creation.ts'
import { type Answer, api, newcomer, refusal, withHoldfast } from '../support/clients/api.ts'
import { tus } from '../support/clients/tus.ts'
import { addUploadsLike } from '../support/databases/uploads-like.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import { reportNotRun } from '../support/processes/not-run.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'
import { smallDisk, whyNoSmallDisk } from '../support/storage/small-disk.ts'

const MB = 1024 * 1024
const FLOOR = 8 * MB

const obstacle = whyNoSmallDisk()
if (obstacle !== null) {
  reportNotRun('empty reservations on a small disk', obstacle)
  test.if(process.env.CI === 'true')('a small disk can be mounted', () => {
    throw new Error(obstacle)
  })
}

describe.skipIf(obstacle !== null)('empty reservations on a disk that could not hold them', () => {
  test('of resumable uploads and of forms keep no account out', async () => {
    using disk = smallDisk(96)
    await using stack = new AsyncDisposableStack()
    const settings = { dataDir: `${disk.path}/data`, minFreeSpace: FLOOR }
    const holdfast = stack.adopt(await startHoldfast(settings), (server) => server.stop())
    const guest = tus(api(holdfast))
    for (let count = 0; count < 20; count++) await guest.start(48 * MB)
    const forms = [0, 1, 2].map(() => openUpload(holdfast.url, { size: 48 * MB }))
    for (const form of await Promise.all(forms)) stack.defer(() => form.abort())
    const reserved = holdfast.database.selectFrom('reservations').select('bytes')
    await eventually('the forms have their room', async () => (await reserved.execute()).length === 3)
    for (const { bytes } of await reserved.execute()) expect(bytes).toBe(GUEST_STEP)
    await (await newcomer(holdfast)).put('five!')
  })

  test('of guests who do send stop at twice the floor, keep their offset, and leave the rest to accounts', async () => {
    using disk = smallDisk(64)
    await using stack = new AsyncDisposableStack()
    const settings = { dataDir: `${disk.path}/data`, minFreeSpace: FLOOR }
    const holdfast = stack.adopt(await startHoldfast(settings), (server) => server.stop())
    const guest = tus(api(holdfast))
    const first = await guest.start(20 * MB)
    expect(await guest.patch(first.path, 0, new Uint8Array(4 * MB))).toMatchObject({ status: 204 })
    let refused: Answer | null = null
    for (let count = 0; refused === null; count++) {
      const created = await guest.create({ 'upload-length': String(4 * MB) }, new Uint8Array(4 * MB))
      if (created.status === 201) expect(count).toBeLessThan(10)
      else refused = created
    }
    expect(refused).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
    // What it has sent and one step are promised already; beyond that there is no room left for guests.
    const more = await guest.patch(first.path, 4 * MB, new Uint8Array(12 * MB))
    expect(more).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
    const kept = await guest.offset(first.path)
    expect(kept).toBeGreaterThanOrEqual(4 * MB)
    expect(kept).toBeLessThanOrEqual(GUEST_STEP)
    expect(await api(holdfast).upload(new Uint8Array(4 * MB))).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
    await (await newcomer(holdfast)).put('x'.repeat(MB))
  })
})

test('empty reservations of one address have a ceiling, which ended and begun ones do not count for', () =>
  withHoldfast({ trustedProxies: ['127.0.0.1'] }, async (holdfast) => {
    const from = (address: string) => ({ 'upload-length': '10', 'x-forwarded-for': address })
    const guest = tus(api(holdfast))
    const paths: string[] = []
    let slug = ''
    for (let count = 0; count < 2; count++) {
      const created = await guest.create(from('203.0.113.1'))
      expect(created.status).toBe(201)
      paths.push(created.headers.get('location') ?? '')
      slug = created.headers.get('holdfast-slug') ?? ''
    }
    const now = holdfast.clock.now()
    await addUploadsLike(holdfast, slug, MOST_EMPTY_OF_ADDRESS - paths.length, [{}], () => now)
    const refused = await guest.create(from('203.0.113.1'))
    expect(refused).toMatchObject(refusal('RATE_LIMITED'))
    expect(
      await guest.create({ 'upload-defer-length': '1', 'x-forwarded-for': '203.0.113.1' }),
    ).toMatchObject(refusal('RATE_LIMITED'))
    expect(await guest.create(from('203.0.113.2'))).toMatchObject({ status: 201 })
    await guest.remove(paths[0] ?? '')
    await guest.patch(paths[1] ?? '', 0, new Uint8Array(5))
    for (const status of [201, 201, 429]) {
      expect(await guest.create(from('203.0.113.1'))).toMatchObject({ status })
    }
    const guests = holdfast.database
      .selectFrom('accounts')
      .select('storage_reserved')
      .where('id', '=', GUESTS)
    expect(await guests.executeTakeFirst()).toEqual({ storage_reserved: 10 })
  }))

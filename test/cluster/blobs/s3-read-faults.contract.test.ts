import { describe, expect, test } from 'bun:test'
import type { S3Options } from '../../../src/blobs/s3.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { eventually } from '../../support/eventually.ts'
import { keysOf } from '../../support/storage/blob-chunks.ts'
import { whyNoCeph } from '../../support/storage/ceph.ts'
import type { Fault } from '../../support/storage/fault-connection.ts'
import {
  get,
  hasty,
  impatient,
  joined,
  passing,
  put,
  reasonOf,
  startFixture,
} from '../../support/storage/faulty-s3.ts'

const MIB = 1024 * 1024
const LARGE = 20 * MIB
const random = chance(22)
const newKey = () => makeBlobKey(systemRandom)

describe.skipIf(whyNoCeph() !== null)('a read from S3', () => {
  async function withBlob(options?: S3Options) {
    const fixture = await startFixture(options)
    const key = newKey()
    const content = random.bytes(LARGE)
    await put(fixture.direct, key, content)
    return { ...fixture, key, content }
  }

  test.each(passing)('outlasts %s before its first byte', async (_, fault) => {
    await using fixture = await withBlob()
    const { proxy, store, key, content } = fixture
    proxy.inject(fault)
    expect((await get(store, key, 5, 500_000)).equals(content.subarray(5, 500_000))).toBe(true)
  })

  test('outlasts a cut in the middle where it is small', async () => {
    await using fixture = await withBlob()
    const { proxy, store, key, content } = fixture
    proxy.inject({ kind: 'cut-response', after: 100_000 })
    proxy.inject({ kind: 'stall-response', after: 100_000 })
    expect((await get(store, key, 0, 300_000)).equals(content.subarray(0, 300_000))).toBe(true)
    proxy.inject({ kind: 'cut-response', after: 700_000 })
    const chunks = await store.read(key, 9, 9 + MIB, LARGE)
    expect((await joined(chunks)).equals(content.subarray(9, 9 + MIB))).toBe(true)
  })

  test.each([
    ['cut', { kind: 'cut-response', after: 3 * MIB }],
    ['cut before the last byte', { kind: 'cut-response', after: LARGE - 1 }],
    ['cut before the first byte', { kind: 'cut-response', after: 0 }],
    ['stalled', { kind: 'stall-response', after: 3 * MIB }],
  ] as [string, Fault][])('fails when it is %s, rather than end early', async (_, fault) => {
    await using fixture = await withBlob()
    const { proxy, store, key } = fixture
    proxy.inject(fault)
    expect(await reasonOf(get(store, key, 0, LARGE))).toBe('away')
    await eventually('no connection is left', () => proxy.connections() === 0)
  })

  test.each([
    ['a cut', { kind: 'cut' }, 'away'],
    ['a stall', { kind: 'stall' }, 'away'],
    ['a 503', { kind: 'answer', status: 503 }, 'away'],
    ['a refusal', { kind: 'answer', status: 403, code: 'InvalidAccessKeyId' }, 'refused'],
    ['a bucket that went', { kind: 'answer', status: 404, code: 'NoSuchBucket' }, 'refused'],
    ['a 404 that does not say what is missing', { kind: 'answer', status: 404 }, 'broken'],
  ] as [string, Fault, string][])('fails when every try meets %s', async (_, fault, reason) => {
    await using fixture = await withBlob(impatient())
    const { proxy, store, key } = fixture
    proxy.inject(fault, { times: Infinity })
    expect(await reasonOf(store.read(key, 0, LARGE))).toBe(reason)
    expect(await reasonOf(store.size(key))).toBe(reason)
    expect(await reasonOf(store.readMark())).toBe(reason)
    expect(await reasonOf(store.probe())).toBe(reason)
    expect(await reasonOf(store.remove(key))).toBe(reason)
    expect(await reasonOf(keysOf(store))).toBe(reason)
  })

  test('fails where the store pays no heed to ranges', async () => {
    await using fixture = await withBlob()
    const { proxy, store, key, content } = fixture
    proxy.inject({ kind: 'drop-header', name: 'range' }, { times: Infinity })
    expect(await reasonOf(store.read(key, 7, 9))).toBe('broken')
    expect(await reasonOf(store.read(key, 0, 9))).toBe('broken')
    expect((await get(store, key, 0, LARGE)).equals(content)).toBe(true)
  })

  test('fails where the object is shorter than the blob', async () => {
    await using fixture = await withBlob()
    const { store, key } = fixture
    expect(await reasonOf(store.read(key, LARGE - 5, LARGE + 5))).toBe('broken')
    expect(await reasonOf(store.read(key, LARGE + 5, LARGE + 6))).toBe('broken')
  })

  test('gives out chunks that end with the range, and fails where they break off', async () => {
    await using fixture = await withBlob()
    const { proxy, store, key, content } = fixture
    for (const [start, end] of [
      [3, 900_000],
      [7, 2000],
      [5, 5],
    ] as const) {
      const chunks = await store.read(key, start, end, LARGE)
      expect((await joined(chunks)).equals(content.subarray(start, end))).toBe(true)
      expect(await chunks.next()).toBeNull()
    }
    proxy.inject({ kind: 'cut-response', after: 3 * MIB })
    const cut = await store.read(key, 0, LARGE, LARGE)
    expect(await reasonOf(joined(cut))).toBe('away')
    expect(await reasonOf(joined(cut))).toBe('away')
  })

  test('ends a read that waits for a chunk when it is cancelled', async () => {
    await using fixture = await withBlob({ ...hasty, timeouts: { answer: 20_000, stall: 20_000 } })
    const { proxy, store, key } = fixture
    proxy.inject({ kind: 'stall-response', after: 3 * MIB })
    const chunks = await store.read(key, 0, LARGE, LARGE)
    const all = joined(chunks)
    setTimeout(() => chunks.cancel(), 300)
    expect((await all).byteLength).toBeLessThanOrEqual(3 * MIB)
    await eventually('no connection is left', () => proxy.connections() === 0)
  })

  test('lets go of the store as soon as it is cancelled', async () => {
    // Twenty reads of a busy store take their time before the first byte.
    await using fixture = await withBlob({ ...hasty, timeouts: { answer: 20_000, stall: 20_000 } })
    const { proxy, store, key } = fixture
    const bodies = await Promise.all(Array.from({ length: 20 }, () => store.read(key, 0, LARGE)))
    for (const body of bodies) {
      await body.next()
      body.cancel()
    }
    await eventually('no connection is left', () => proxy.connections() === 0)
  })
})

// Only in test:all: retries, further and further apart; s3-read-faults has some.
import { describe, expect, test } from 'bun:test'
import { systemPacing } from '../../../src/blobs/retries.ts'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import type { Sha256 } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { eventually } from '../../support/eventually.ts'
import { keysOf } from '../../support/storage/blob-chunks.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'
import type { Fault } from '../../support/storage/fault-connection.ts'
import { type ProxiedRequest, startFaultProxy } from '../../support/storage/fault-proxy.ts'
import {
  get,
  hasty,
  impatient,
  passing,
  put,
  reasonOf,
  startFixture,
} from '../../support/storage/faulty-s3.ts'

const MIB = 1024 * 1024
const LARGE = 20 * MIB
const random = chance(21)
const newKey = () => makeBlobKey(systemRandom)

const isPart =
  (number: number) =>
  ({ method, path }: ProxiedRequest) =>
    method === 'PUT' && path.includes(`partNumber=${number}&`)
const isAnyPart = ({ method, path }: ProxiedRequest) => method === 'PUT' && path.includes('partNumber=')
const isBegin = ({ method, path }: ProxiedRequest) => method === 'POST' && path.includes('?uploads')
const isJoin = ({ method, path }: ProxiedRequest) => method === 'POST' && path.includes('?uploadId=')
const isMethod =
  (wanted: string) =>
  ({ method }: ProxiedRequest) =>
    method === wanted

describe.skipIf(whyNoCeph() !== null)('an upload to S3', () => {
  const spoilt: [string, Fault] = ['a spoilt byte', { kind: 'spoil', at: 70_000 }]

  test.each([...passing, spoilt])('outlasts %s at one of its parts', async (_, fault) => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const content = random.bytes(LARGE)
    proxy.inject(fault, { match: isPart(2) })
    await put(store, key, content)
    expect((await get(direct, key, 0, LARGE)).equals(content)).toBe(true)
    expect(proxy.requests.filter(isPart(2)).length).toBeGreaterThan(1)
  })

  test.each([...passing, spoilt])('outlasts %s where it is one small request', async (_, fault) => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const [key, hashed] = [newKey(), newKey()]
    const content = random.bytes(MIB)
    proxy.inject(fault, { match: isMethod('PUT') })
    await put(store, key, content)
    expect((await get(direct, key, 0, MIB)).equals(content)).toBe(true)
    const small = random.bytes(100_000)
    proxy.inject(fault, { match: isMethod('PUT') })
    await store.put(hashed, small, Bun.SHA256.hash(small, 'hex') as Sha256)
    expect((await get(direct, hashed, 0, small.length)).equals(small)).toBe(true)
  })

  test.each(passing)('outlasts %s when it begins', async (_, fault) => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const content = random.bytes(LARGE)
    proxy.inject(fault, { match: isBegin })
    await put(store, key, content)
    expect((await get(direct, key, 0, LARGE)).equals(content)).toBe(true)
    await direct.remove(key)
    expect(await keysOf(direct)).toEqual([])
  })

  test.each([
    ...passing.filter(([name]) => name !== 'a stall'),
    ['a failure after a good beginning', { kind: 'answer', status: 200, code: 'InternalError' }] as [
      string,
      Fault,
    ],
  ])('outlasts %s when its parts are joined', async (_, fault) => {
    // Ceph answers 500 while it still joins them for the request that was cut off: waiting is what helps.
    await using fixture = await startFixture({ ...hasty, pacing: systemPacing(systemRandom) })
    const { proxy, store, direct } = fixture
    const key = newKey()
    const content = random.bytes(LARGE)
    proxy.inject(fault, { match: isJoin })
    await put(store, key, content)
    expect((await get(direct, key, 0, LARGE)).equals(content)).toBe(true)
    expect(await keysOf(direct)).toEqual([key])
  })

  test.each(passing)('outlasts %s when its size is looked at', async (_, fault) => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    proxy.inject(fault, { match: isMethod('HEAD') })
    await put(store, key, random.bytes(LARGE))
    expect(await direct.size(key)).toBe(LARGE)
  })

  test('outlasts a gateway that is gone for several tries of every part', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const content = random.bytes(LARGE)
    for (const number of [1, 2, 3]) proxy.inject({ kind: 'cut' }, { match: isPart(number), times: 4 })
    await put(store, key, content)
    expect((await get(direct, key, 0, LARGE)).equals(content)).toBe(true)
  })

  test.each([
    ['cuts', { kind: 'cut' }, 'away'],
    ['cuts in the middle', { kind: 'cut-request', after: 500 }, 'away'],
    ['503s', { kind: 'answer', status: 503, code: 'SlowDown' }, 'away'],
    ['500s', { kind: 'answer', status: 500 }, 'away'],
    ['stalls', { kind: 'stall' }, 'away'],
    ['lost answers', { kind: 'lose-answer' }, 'away'],
    ['a key that lost its right', { kind: 'answer', status: 403, code: 'AccessDenied' }, 'refused'],
    ['a bucket that went', { kind: 'answer', status: 404, code: 'NoSuchBucket' }, 'refused'],
    ['a quota', { kind: 'answer', status: 403, code: 'QuotaExceeded' }, 'full'],
    ['spoilt bytes', { kind: 'spoil', at: 10 }, 'broken'],
    ['an answer that makes no sense', { kind: 'answer', status: 418 }, 'broken'],
  ] as [string, Fault, string][])('fails with lasting %s, and leaves nothing', async (_, fault, reason) => {
    for (const size of [1000, LARGE]) {
      await using fixture = await startFixture(fault.kind === 'stall' ? impatient() : hasty)
      const { proxy, store, direct } = fixture
      const key = newKey()
      const writer = await store.create(key)
      proxy.inject(fault, { match: size === LARGE ? isAnyPart : isMethod('PUT'), times: Infinity })
      const whole = async () => {
        await writer.write(random.bytes(size))
        await writer.complete()
      }
      expect(await reasonOf(whole())).toBe(reason)
      expect(await direct.size(key)).toBe(fault.kind === 'lose-answer' && size === 1000 ? size : null)
      await writer.abort()
      expect(await direct.size(key)).toBeNull()
      expect(await keysOf(direct)).toEqual([])
    }
  })

  test('leaves nothing when its parts were joined and nobody could tell', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const writer = await store.create(key)
    proxy.inject({ kind: 'lose-answer' }, { match: isJoin, times: Infinity })
    await writer.write(random.bytes(LARGE))
    expect(await reasonOf(writer.complete())).toBe('away')
    expect(await direct.size(key)).toBe(LARGE)
    await writer.abort()
    expect(await keysOf(direct)).toEqual([])
  })

  test('leaves nothing when the answer to its beginning was lost for good', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const writer = await store.create(key)
    proxy.inject({ kind: 'lose-answer' }, { match: isBegin, times: Infinity })
    const whole = async () => {
      await writer.write(random.bytes(LARGE))
      await writer.complete()
    }
    expect(await reasonOf(whole())).toBe('away')
    expect(new Set(await keysOf(direct))).toEqual(new Set([key]))
    await writer.abort()
    expect(await keysOf(direct)).toEqual([])
  })

  test('that cannot be cleared away now is named, and can be removed later', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const writer = await store.create(key)
    await writer.write(random.bytes(LARGE))
    await eventually('the first parts are there', async () => (await keysOf(direct)).includes(key))
    proxy.inject({ kind: 'cut' }, { times: Infinity })
    expect(await reasonOf(writer.abort())).toBe('away')
    proxy.heal()
    expect(await keysOf(store)).toEqual([key])
    await store.remove(key)
    expect(await keysOf(direct)).toEqual([])
  })

  test('is not tried again where trying cannot help', async () => {
    await using fixture = await startFixture()
    const { proxy, store } = fixture
    proxy.inject({ kind: 'answer', status: 403, code: 'AccessDenied' }, { times: Infinity })
    const before = proxy.requests.length
    expect(await reasonOf(put(store, newKey(), random.bytes(10)))).toBe('refused')
    expect(proxy.requests.length - before).toBe(1)
  })

  test('lets go of its requests when it is aborted', async () => {
    await using fixture = await startFixture({ ...hasty, timeouts: { answer: 60_000, stall: 60_000 } })
    const { proxy, store, direct } = fixture
    const writer = await store.create(newKey())
    proxy.inject({ kind: 'stall' }, { match: isAnyPart, times: Infinity })
    await writer.write(random.bytes(LARGE))
    await eventually('parts are on their way', () => proxy.requests.some(isAnyPart))
    await writer.abort()
    await eventually('no connection is left', () => proxy.connections() === 0)
    expect(await keysOf(direct)).toEqual([])
  })
})

describe.skipIf(whyNoCeph() !== null)('opening S3', () => {
  test.each([
    ['secret', { secretAccessKey: 'not the secret' }],
    ['key', { accessKeyId: 'nobody' }],
  ])('is refused with a wrong %s, in words that help and tell no secret', async (_, wrong) => {
    const settings = { ...(await newBucket()), ...wrong }
    const opening: unknown = await openS3Blobs(settings, systemRandom, hasty).catch((error: unknown) => error)
    if (!(opening instanceof Error)) throw new Error('it was opened')
    expect(opening.message).toContain('does not let this key use the bucket')
    expect(opening.message).toContain(settings.endpoint)
    expect(opening.message).not.toContain(settings.secretAccessKey)
    expect(opening.cause).toMatchObject({ name: 'StoreFailure', reason: 'refused' })
  })

  test('says that the store cannot be reached', async () => {
    const settings = { ...(await newBucket()), endpoint: 'http://127.0.0.1:1' }
    const opening: unknown = await openS3Blobs(settings, systemRandom, hasty).catch((error: unknown) => error)
    expect(opening).toMatchObject({ cause: { name: 'StoreFailure', reason: 'away' } })
  })

  test('is not offended by a bucket whose making was answered with silence', async () => {
    const settings = await newBucket()
    await using proxy = Object.assign(await startFaultProxy(settings.endpoint), {
      async [Symbol.asyncDispose]() {
        await proxy.stop()
      },
    })
    proxy.inject({ kind: 'lose-answer' }, { match: isMethod('PUT') })
    const store = await openS3Blobs({ ...settings, endpoint: proxy.url }, systemRandom, hasty)
    await store.probe()
  })
})

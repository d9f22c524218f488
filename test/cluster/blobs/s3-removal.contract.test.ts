import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { BlobStore } from '../../../src/blobs/blob-store.ts'
import { systemPacing } from '../../../src/blobs/retries.ts'
import { type S3Answer, type S3Request, s3Client, usualTimeouts } from '../../../src/blobs/s3-client.ts'
import { BLOBS, objectOf } from '../../../src/blobs/s3-objects.ts'
import { removeBlobs } from '../../../src/blobs/s3-removal.ts'
import { createMultipartUpload, unfinishedUploads } from '../../../src/blobs/s3-uploads.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { DAY, HOUR, systemClock } from '../../../src/domain/clock.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { createCleaning } from '../../../src/files/blob-cleaning.job.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { keysOf } from '../../support/storage/blob-chunks.ts'
import { whyNoCeph } from '../../support/storage/ceph.ts'
import type { ProxiedRequest } from '../../support/storage/fault-proxy.ts'
import { get, put, startFixture } from '../../support/storage/faulty-s3.ts'
import { MemoryS3 } from '../../support/storage/memory-s3.ts'

const newKey = () => makeBlobKey(systemRandom)
const isBegin = ({ method, path }: ProxiedRequest) => method === 'POST' && path.includes('?uploads')
const isDeletion = ({ method, path }: ProxiedRequest) => method === 'POST' && path.includes('?delete')

/** Keys of so many small blobs. */
async function filled(store: BlobStore, count: number) {
  const keys = Array.from({ length: count }, newKey)
  await Promise.all(keys.map((key) => put(store, key, Buffer.from(key))))
  return keys
}

describe.skipIf(whyNoCeph() !== null)('removing many blobs from S3', () => {
  test('takes three requests, however many they are', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const keys = await filled(direct, 50)
    const before = proxy.requests.length
    expect((await store.removeAll(keys, () => {})).toSorted()).toEqual(keys.toSorted())
    expect(proxy.requests.slice(before).map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
    expect(await keysOf(direct)).toEqual([])
  })

  test('goes one by one where the store cannot delete many at once', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const keys = await filled(direct, 10)
    const failures: unknown[] = []
    proxy.inject(
      { kind: 'answer', status: 501, code: 'NotImplemented' },
      { match: isDeletion, times: Infinity },
    )
    expect((await store.removeAll(keys, (error) => failures.push(error))).toSorted()).toEqual(keys.toSorted())
    expect(failures).toEqual([])
    expect(await keysOf(direct)).toEqual([])
  })

  test('removes nothing, and says why, while the store is away', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const keys = await filled(direct, 10)
    const failures: unknown[] = []
    proxy.inject({ kind: 'answer', status: 503, code: 'SlowDown' }, { match: isDeletion, times: Infinity })
    expect(await store.removeAll(keys, (error) => failures.push(error))).toEqual([])
    expect(failures).toMatchObject([{ reason: 'away' }])
    expect((await keysOf(direct)).toSorted()).toEqual(keys.toSorted())
    proxy.heal()
    expect((await store.removeAll(keys, () => {})).length).toBe(10)
  })
})

test('blobs that the store does not delete among many are not counted as removed', async () => {
  const keys = Array.from({ length: 6 }, newKey)
  const [stuck = newKey(), missing = newKey()] = keys
  class Refusing extends MemoryS3 {
    override async send(request: S3Request): Promise<S3Answer> {
      if (request.query?.delete === undefined) return super.send(request)
      const errors = [
        `<Error><Key>${objectOf(stuck)}</Key><Code>AccessDenied</Code></Error>`,
        `<Error><Key>${objectOf(missing)}</Key><Code>NoSuchKey</Code></Error>`,
      ]
      return { headers: new Headers(), text: `<DeleteResult>${errors.join('')}</DeleteResult>` }
    }
  }
  const failures: unknown[] = []
  const removed = await removeBlobs(new Refusing(), keys, (error) => failures.push(error))
  expect(removed).toEqual(keys.slice(1))
  expect(failures).toHaveLength(1)
})

test('blobs go one by one where too much is unfinished to list it', async () => {
  const store = new MemoryS3()
  for (let at = 0; at < 5001; at++) store.objects.set(`tails/00/other/${at}`, Buffer.alloc(0))
  const keys = Array.from({ length: 6 }, newKey)
  for (const key of keys) store.objects.set(objectOf(key), Buffer.alloc(0))
  expect((await removeBlobs(store, keys, () => {})).toSorted()).toEqual(keys.toSorted())
  expect(store.requests.filter((name) => name.startsWith('DELETE'))).toHaveLength(keys.length)
})

describe.skipIf(whyNoCeph() !== null)('multipart uploads that nobody completes', () => {
  const { signal } = new AbortController()

  test('are ended beside complete blobs, unless they are young or under way', async () => {
    await using fixture = await startFixture()
    const { direct, settings } = fixture
    const client = s3Client(settings, systemPacing(systemRandom), usualTimeouts)
    const [whole, left, open] = [newKey(), newKey(), newKey()]
    await put(direct, whole, Buffer.from('whole'))
    for (const key of [whole, left, open]) await createMultipartUpload(client, objectOf(key), signal)
    const unfinished = async () =>
      (await Array.fromAsync(unfinishedUploads(client, BLOBS))).map(({ object }) => object)
    const isUnderWay = async (key: BlobKey) => key === open

    await direct.endForgotten(Date.now() - HOUR, isUnderWay)
    expect((await unfinished()).length).toBe(3)
    await direct.endForgotten(Date.now() + HOUR, isUnderWay)
    expect(await unfinished()).toEqual([objectOf(open)])
    expect(await direct.size(whole)).toBe(5)
  })

  test('are ended a day after a lost answer has left one beside the file', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct, settings } = fixture
    using folder = temporaryFolder()
    const database = openSqlite(join(folder.path, 'rows.sqlite'))
    await migrate(database)
    const client = s3Client(settings, systemPacing(systemRandom), usualTimeouts)
    const key = newKey()
    const content = systemRandom(9 * 1024 ** 2)
    // The first request to begin the upload is carried out, and its answer is lost.
    proxy.inject({ kind: 'lose-answer' }, { match: isBegin, times: 1 })
    await put(store, key, content)
    expect((await Array.fromAsync(unfinishedUploads(client, BLOBS))).length).toBe(1)
    const tomorrow = { ...systemClock, now: () => Date.now() + DAY + HOUR }
    for (const clock of [systemClock, tomorrow]) {
      await createCleaning(database, direct, clock, () => {}).endForgotten()
      const isLeft = clock === systemClock
      expect((await Array.fromAsync(unfinishedUploads(client, BLOBS))).length).toBe(isLeft ? 1 : 0)
    }
    expect(await get(direct, key, 0, content.length)).toEqual(Buffer.from(content))
    await database.destroy()
  })
})

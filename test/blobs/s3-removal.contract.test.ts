import { describe, expect, test } from 'bun:test'
import type { BlobStore } from '../../src/blobs/blob-store.ts'
import type { S3Answer } from '../../src/blobs/s3-client.ts'
import { objectOf } from '../../src/blobs/s3-objects.ts'
import { removeBlobs } from '../../src/blobs/s3-removal.ts'
import type { S3Request } from '../../src/blobs/s3-requests.ts'
import { makeBlobKey, systemRandom } from '../../src/domain/random.ts'
import { whyNoCeph } from '../support/storage/ceph.ts'
import type { ProxiedRequest } from '../support/storage/fault-proxy.ts'
import { named, put, startFixture } from '../support/storage/faulty-s3.ts'
import { MemoryS3 } from '../support/storage/memory-s3.ts'

const newKey = () => makeBlobKey(systemRandom)
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
    expect(await named(direct)).toEqual([])
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
    expect(await named(direct)).toEqual([])
  })

  test('removes nothing, and says why, while the store is away', async () => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const keys = await filled(direct, 10)
    const failures: unknown[] = []
    proxy.inject({ kind: 'answer', status: 503, code: 'SlowDown' }, { match: isDeletion, times: Infinity })
    expect(await store.removeAll(keys, (error) => failures.push(error))).toEqual([])
    expect(failures).toMatchObject([{ reason: 'away' }])
    expect((await named(direct)).toSorted()).toEqual(keys.toSorted())
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

import { expect, test } from 'bun:test'
import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { BlobStore } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { openFiles } from '../../support/processes/open-files.ts'
import { bytesOf } from '../../support/storage/blob-chunks.ts'
import { inputOutputError, watchDisk } from '../../support/storage/watched-disk.ts'

const random = chance(25)

interface Fixture {
  readonly store: BlobStore
  readonly key: BlobKey
  readonly folder: string
  readonly growing: string
  readonly finished: string
  [Symbol.dispose](): void
}

async function startFixture(): Promise<Fixture> {
  const temporary = temporaryFolder()
  const folder = temporary.path
  const store = await openDiskBlobs(folder, systemRandom, { alone: true })
  const key = makeBlobKey(systemRandom)
  return {
    store,
    key,
    folder,
    growing: join(folder, 'resumable', key),
    finished: join(folder, key.slice(0, 2), key),
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  }
}

test('a blob in several sessions is a file for its owner alone, and becomes the blob without a copy', async () => {
  using fixture = await startFixture()
  const { store, key, growing, finished } = fixture
  const writer = await store.resume(key, null)
  await writer.write(random.bytes(1000))
  await writer.keep()
  const { ino, mode } = statSync(growing)
  expect(mode & 0o777).toBe(0o600)
  await writer.complete()
  expect(statSync(finished).ino).toBe(ino)
})

test('a session asks for no more syncs than it needs', async () => {
  using fixture = await startFixture()
  const { store, key, growing, finished, folder } = fixture
  const writer = await store.resume(key, null)
  using disk = await watchDisk()
  for (let times = 0; times < 2; times++) {
    await writer.write(random.bytes(1000))
    await writer.keep()
    await writer.keep()
  }
  await writer.complete()
  expect(disk.asked).toEqual([
    { how: 'datasync', path: growing },
    { how: 'sync', path: join(folder, 'resumable') },
    { how: 'datasync', path: growing },
    { how: 'rename', path: finished },
    { how: 'sync', path: join(folder, key.slice(0, 2)) },
  ])
})

test('what is being synced when a session ends is not synced again', async () => {
  using fixture = await startFixture()
  const { store, key, growing, folder } = fixture
  const writer = await store.resume(key, null)
  using disk = await watchDisk()
  // After so many a sync begins by itself.
  await writer.write(random.bytes(16 * 1024 * 1024))
  await writer.keep()
  expect(disk.asked).toEqual([
    { how: 'datasync', path: growing },
    { how: 'sync', path: join(folder, 'resumable') },
  ])
  await writer.close()
})

test('a session that brought nothing leaves the name safe for the next one', async () => {
  using fixture = await startFixture()
  const { store, key, growing, folder } = fixture
  const writer = await store.resume(key, null)
  using disk = await watchDisk()
  await writer.keep()
  expect(disk.asked).toEqual([
    { how: 'datasync', path: growing },
    { how: 'sync', path: join(folder, 'resumable') },
  ])
  await writer.close()
})

test('a completion that was killed after the renaming is made safe when it is asked for again', async () => {
  using fixture = await startFixture()
  const { store, key, finished } = fixture
  const writer = await store.resume(key, null)
  await writer.write(random.bytes(1000))
  const kept = await writer.keep()
  using disk = await watchDisk()
  disk.before = ({ how }) => {
    if (how === 'sync') throw inputOutputError()
  }
  await expect(writer.complete()).rejects.toMatchObject({ reason: 'broken' })
  disk.before = () => {}
  const before = disk.asked.length
  await (await store.resume(key, kept)).complete()
  expect(disk.asked.slice(before)).toEqual([{ how: 'sync', path: join(finished, '..') }])
})

test('a sync that failed is not tried again, and the next session goes on from what was kept before', async () => {
  using fixture = await startFixture()
  const { store, key } = fixture
  const [first, second] = [random.bytes(1000), random.bytes(1000)]
  const writer = await store.resume(key, null)
  await writer.write(first)
  const kept = await writer.keep()
  await writer.write(random.bytes(5000))
  using disk = await watchDisk()
  disk.before = () => {
    throw inputOutputError()
  }
  const broken = { name: 'StoreFailure', reason: 'broken' }
  await expect(writer.keep()).rejects.toMatchObject(broken)
  disk.before = () => {}
  await expect(writer.keep()).rejects.toMatchObject(broken)
  await expect(writer.write(second)).rejects.toMatchObject(broken)
  expect(disk.asked).toHaveLength(1)
  expect(writer.safe()).toBeNull()
  await writer.close()

  const next = await store.resume(key, kept)
  await next.write(second)
  await next.keep()
  await next.complete()
  const bytes = await bytesOf(await store.read(key, 0, 2000))
  expect(bytes.equals(Buffer.concat([first, second]))).toBe(true)
})

test('a file that has lost what was kept is not filled up', async () => {
  using fixture = await startFixture()
  const { store, key, growing } = fixture
  const writer = await store.resume(key, null)
  await writer.write(random.bytes(1000))
  const kept = await writer.keep()
  await writer.close()
  truncateSync(growing, 999)
  await expect(store.resume(key, kept)).rejects.toMatchObject({ name: 'BlobDamaged' })
  expect(statSync(growing).size).toBe(999)
  expect(openFiles(process.pid)).not.toContain(growing)
})

test('a session that is closed while it keeps holds nothing open', async () => {
  using fixture = await startFixture()
  const { store, key, growing } = fixture
  const writer = await store.resume(key, null)
  await writer.write(random.bytes(1000))
  await writer.keep()
  await writer.write(random.bytes(1000))
  const keeping = writer.keep().catch(() => {})
  await writer.close()
  await keeping
  expect(openFiles(process.pid)).not.toContain(growing)
})

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { watchDisk } from '../../support/storage/watched-disk.ts'

const random = chance(29)

async function openStore(folder: string) {
  const store = await openDiskBlobs(folder, systemRandom, { alone: true })
  const key = makeBlobKey(systemRandom)
  const shard = join(folder, key.slice(0, 2))
  return { store, key, temporary: join(folder, 'tmp', key), shard, finished: join(shard, key) }
}

test.each([0, 1000])(
  '%d bytes are synced, renamed, and durable by name before they are a blob',
  async (size) => {
    using folder = temporaryFolder()
    const { store, key, temporary, shard, finished } = await openStore(folder.path)
    const content = random.bytes(size)
    const writer = await store.create(key)
    await writer.write(content)
    using disk = await watchDisk()
    disk.before = ({ how }) => {
      if (how === 'rename') expect(readFileSync(temporary).equals(content)).toBe(true)
    }
    expect(await writer.complete()).toBe(size)
    expect(disk.asked).toEqual([
      { how: 'datasync', path: temporary },
      { how: 'rename', path: finished },
      { how: 'sync', path: shard },
    ])
  },
)

test('bytes are synced while the reservation is recorded, and get their name after that', async () => {
  using folder = temporaryFolder()
  const { store, key, finished } = await openStore(folder.path)
  const writer = await store.create(key)
  await writer.write(random.bytes(1000))
  using disk = await watchDisk()
  const recorded = Promise.withResolvers<void>()
  const completed = writer.complete(recorded.promise)
  await eventually('the bytes are synced', () => disk.asked.length > 0)
  await Bun.sleep(50)
  expect(disk.asked.map(({ how }) => how)).toEqual(['datasync'])
  recorded.resolve()
  expect(await completed).toBe(1000)
  expect(existsSync(finished)).toBe(true)
})

test('an aborted blob leaves no file, complete or not', async () => {
  using folder = temporaryFolder()
  for (const isCompleted of [false, true]) {
    const { store, key, temporary, finished } = await openStore(folder.path)
    const writer = await store.create(key)
    await writer.write(random.bytes(1000))
    if (isCompleted) await writer.complete()
    await writer.abort()
    expect([temporary, finished].filter(existsSync)).toEqual([])
  }
})

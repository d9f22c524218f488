import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StoreFailure } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { inputOutputError, type Step, watchDisk } from '../../support/storage/watched-disk.ts'

const random = chance(31)

describe.each([{ alone: true }, { alone: false }])(
  'a removal by a server that has the folder alone: $alone,',
  ({ alone }) => {
    const opened = async (folder: string) => {
      const store = await openDiskBlobs(folder, systemRandom, { alone })
      const key = makeBlobKey(systemRandom)
      const syncOf = (name: string): Step => ({ how: 'sync', path: join(folder, name) })
      return { store, key, syncOf }
    }
    // What an opening removes by itself needs no sync.
    const syncsOfTemporary = (sync: Step) => (alone ? [] : [sync])

    test('of a blob would survive a power cut', async () => {
      using folder = temporaryFolder()
      const { store, key, syncOf } = await opened(folder.path)
      const writer = await store.create(key)
      await writer.write(random.bytes(1000))
      await writer.complete()
      using disk = await watchDisk()
      await store.remove(key)
      expect(disk.asked).toEqual([syncOf(key.slice(0, 2))])
    })

    test('of a resumable blob would survive a power cut', async () => {
      using folder = temporaryFolder()
      const { store, key, syncOf } = await opened(folder.path)
      const writer = await store.resume(key, null)
      await writer.write(random.bytes(1000))
      await writer.keep()
      await writer.close()
      using disk = await watchDisk()
      await store.remove(key)
      expect(existsSync(join(folder.path, 'resumable', key))).toBe(false)
      expect(disk.asked).toEqual([syncOf('resumable')])
    })

    test('of an unfinished blob would survive a power cut unless the next opening makes it', async () => {
      using folder = temporaryFolder()
      const { store, syncOf } = await opened(folder.path)
      for (const remove of [
        async (key: ReturnType<typeof makeBlobKey>) => (await store.create(key)).abort(),
        async (key: ReturnType<typeof makeBlobKey>) => {
          const writer = await store.create(key)
          await store.remove(key)
          await writer.abort()
        },
      ]) {
        const key = makeBlobKey(systemRandom)
        using disk = await watchDisk()
        await remove(key)
        expect(existsSync(join(folder.path, 'tmp', key))).toBe(false)
        expect(disk.asked).toEqual(syncsOfTemporary(syncOf('tmp')))
      }
    })

    test('of a probe would survive a power cut unless the next opening makes it', async () => {
      using folder = temporaryFolder()
      const { store, syncOf } = await opened(folder.path)
      using disk = await watchDisk()
      await store.probe()
      expect(disk.asked.slice(1)).toEqual(syncsOfTemporary(syncOf('tmp')))
    })
  },
)

test('a removal of what is not there syncs nothing', async () => {
  using folder = temporaryFolder()
  const store = await openDiskBlobs(folder.path, systemRandom, { alone: true })
  using disk = await watchDisk()
  await store.remove(makeBlobKey(systemRandom))
  expect(disk.asked).toEqual([])
})

test('a removal whose sync has failed is synced by the next try, which finds nothing', async () => {
  using folder = temporaryFolder()
  const store = await openDiskBlobs(folder.path, systemRandom, { alone: true })
  const key = makeBlobKey(systemRandom)
  const writer = await store.create(key)
  await writer.complete()
  using disk = await watchDisk()
  disk.before = () => {
    throw inputOutputError()
  }
  await expect(store.remove(key)).rejects.toBeInstanceOf(StoreFailure)
  await expect(store.remove(key)).rejects.toBeInstanceOf(StoreFailure)
  disk.before = () => {}
  await store.remove(key)
  await store.remove(key)
  const sync: Step = { how: 'sync', path: join(folder.path, key.slice(0, 2)) }
  expect(disk.asked).toEqual([sync, sync, sync])
})

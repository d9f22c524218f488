/** Symbolic links in the store: no path of a blob is followed out of its folder. */
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BlobMissing } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { LinkInStore } from '../../../src/blobs/disk-files.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

test('a symbolic link in the store at the place of a blob is neither read, written nor followed in removing', async () => {
  using folder = temporaryFolder()
  const outside = join(folder.path, 'outside')
  writeFileSync(outside, 'of somebody else')
  const blobs = await openDiskBlobs(join(folder.path, 'blobs'), systemRandom, { alone: true })
  const key = makeBlobKey(systemRandom)
  const place = join(folder.path, 'blobs', key.slice(0, 2), key)
  symlinkSync(outside, place)
  expect(await blobs.size(key)).toBeNull()
  await expect(blobs.read(key, 0, 2)).rejects.toThrow(BlobMissing)
  await expect(blobs.read(key, 0, 2, 16)).rejects.toThrow(BlobMissing)
  await blobs.remove(key)
  expect(existsSync(place)).toBe(false)

  const growing = join(folder.path, 'blobs/resumable', key)
  symlinkSync(outside, growing)
  const kept = { offset: 0, progress: 'disk' } as Parameters<typeof blobs.resume>[1]
  await expect(blobs.resume(key, kept)).rejects.toThrow(BlobMissing)
  await expect(blobs.resume(key, null)).rejects.toThrow()
  rmSync(growing)
  symlinkSync(outside, join(folder.path, 'blobs/tmp', key))
  await expect(blobs.create(key)).rejects.toThrow()
  symlinkSync(outside, join(folder.path, 'blobs/mark'))
  expect(await blobs.readMark()).toBeNull()
  await blobs.writeMark('ours')
  expect(readFileSync(outside, 'utf8')).toBe('of somebody else')
})

test.each([['ab'], ['tmp'], ['resumable']])(
  'a symbolic link in the store at the place of its folder %s is refused',
  async (name) => {
    using folder = temporaryFolder()
    mkdirSync(join(folder.path, 'blobs'))
    mkdirSync(join(folder.path, 'outside'))
    symlinkSync(join(folder.path, 'outside'), join(folder.path, 'blobs', name))
    const opening = openDiskBlobs(join(folder.path, 'blobs'), systemRandom, { alone: false })
    await expect(opening).rejects.toThrow(LinkInStore)
  },
)

test('the folder of the store itself may be a symbolic link, which is how it comes to another disk', async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'disk'))
  symlinkSync(join(folder.path, 'disk'), join(folder.path, 'blobs'))
  const blobs = await openDiskBlobs(join(folder.path, 'blobs'), systemRandom, { alone: true })
  await blobs.probe()
})

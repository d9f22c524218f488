import { expect, test } from 'bun:test'
import { renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BlobChunks, BlobDamaged, BlobMissing, type BlobStore } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { openFiles } from '../../support/processes/open-files.ts'
import { bytesOf } from '../../support/storage/blob-chunks.ts'

const TEXT = 'what a player reads again and again'

async function storeIn(folder: string) {
  const store = await openDiskBlobs(folder, systemRandom, { alone: true })
  const add = async (text = TEXT): Promise<BlobKey> => {
    const key = makeBlobKey(systemRandom)
    const writer = await store.create(key)
    await writer.write(Buffer.from(text))
    await writer.complete()
    return key
  }
  return { store, add, pathOf: (key: BlobKey) => join(folder, key.slice(0, 2), key) }
}

function opened(store: BlobStore, key: BlobKey): Promise<BlobChunks> {
  return store.read(key, 0, TEXT.length, TEXT.length)
}

async function textOf(blob: BlobChunks): Promise<string> {
  return String(await bytesOf(blob))
}

function handlesOf(folder: string): number {
  return openFiles(process.pid).filter((path) => path.startsWith(folder)).length
}

test('readers of a blob share its open file, which is closed soon after the last', async () => {
  using folder = temporaryFolder()
  const { store, add } = await storeIn(folder.path)
  const key = await add()
  const first = await opened(store, key)
  const second = await opened(store, key)
  expect(handlesOf(folder.path)).toBe(1)
  expect(await textOf(first)).toBe(TEXT)
  await eventually('a retired file is opened anew', async () => {
    const later = await opened(store, key)
    const count = handlesOf(folder.path)
    later.cancel()
    return count === 2
  })
  expect(await textOf(second)).toBe(TEXT)
  await eventually('no file is open', async () => handlesOf(folder.path) === 0)
})

test('files that are opened at the same time are closed as well', async () => {
  using folder = temporaryFolder()
  const { store, add } = await storeIn(folder.path)
  const key = await add()
  const blobs = await Promise.all(Array.from({ length: 20 }, () => opened(store, key)))
  for (const blob of blobs) blob.cancel()
  await eventually('at most one file is open', async () => handlesOf(folder.path) <= 1)
  await eventually('no file is open', async () => handlesOf(folder.path) === 0)
})

test('a bounded number of files stays open without readers', async () => {
  using folder = temporaryFolder()
  const { store, add } = await storeIn(folder.path)
  for (let count = 0; count < 100; count++) (await opened(store, await add())).cancel()
  // Before files close by themselves, and after those did that are closed on another thread.
  await Bun.sleep(50)
  expect(handlesOf(folder.path)).toBeLessThanOrEqual(65)
})

test('a removed blob is missing at once, is read to its end, and is closed then', async () => {
  using folder = temporaryFolder()
  const { store, add } = await storeIn(folder.path)
  const key = await add()
  const reader = await opened(store, key)
  await store.remove(key)
  await expect(opened(store, key)).rejects.toBeInstanceOf(BlobMissing)
  expect(await textOf(reader)).toBe(TEXT)
  await eventually('no file is open', async () => handlesOf(folder.path) === 0)
})

test('what becomes of the file of an open blob is noticed by the next reader', async () => {
  using folder = temporaryFolder()
  const { store, add, pathOf } = await storeIn(folder.path)
  const [lost, replaced, cut] = [await add(), await add(), await add()]
  for (const key of [lost, replaced, cut]) (await opened(store, key)).cancel()

  rmSync(pathOf(lost))
  await expect(opened(store, lost)).rejects.toBeInstanceOf(BlobMissing)

  const other = TEXT.toUpperCase()
  writeFileSync(join(folder.path, 'tmp', 'other'), other)
  renameSync(join(folder.path, 'tmp', 'other'), pathOf(replaced))
  const again = await opened(store, replaced)
  expect(await textOf(again)).toBe(other)

  truncateSync(pathOf(cut), 5)
  await expect(opened(store, cut)).rejects.toBeInstanceOf(BlobDamaged)
})

import { expect, test } from 'bun:test'
import { renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BlobDamaged, BlobMissing, type BlobStore, type OpenBlob } from '../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../src/blobs/disk.ts'
import type { BlobKey } from '../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../src/domain/random.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { openFiles } from '../support/processes/open-files.ts'

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

async function opened(store: BlobStore, key: BlobKey): Promise<OpenBlob> {
  const blob = await store.open(key, TEXT.length)
  if (blob === null) throw new Error('a disk opens its blobs')
  return blob
}

async function textOf(blob: OpenBlob): Promise<string> {
  const target = new Uint8Array(TEXT.length)
  await blob.readInto(0, target)
  return Buffer.from(target).toString()
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
  await first.close()
  expect(await textOf(second)).toBe(TEXT)
  await eventually('a retired file is opened anew', async () => {
    const later = await opened(store, key)
    const count = handlesOf(folder.path)
    await later.close()
    return count === 2
  })
  expect(await textOf(second)).toBe(TEXT)
  await second.close()
  await eventually('no file is open', async () => handlesOf(folder.path) === 0)
})

test('files that are opened at the same time are closed as well', async () => {
  using folder = temporaryFolder()
  const { store, add } = await storeIn(folder.path)
  const key = await add()
  const blobs = await Promise.all(Array.from({ length: 20 }, () => opened(store, key)))
  for (const blob of blobs) await blob.close()
  expect(handlesOf(folder.path)).toBeLessThanOrEqual(1)
  await eventually('no file is open', async () => handlesOf(folder.path) === 0)
})

test('a bounded number of files stays open without readers', async () => {
  using folder = temporaryFolder()
  const { store, add } = await storeIn(folder.path)
  for (let count = 0; count < 100; count++) await (await opened(store, await add())).close()
  // One more may be about to be closed on another thread.
  expect(handlesOf(folder.path)).toBeLessThanOrEqual(65)
})

test('a removed blob is missing at once, is read to its end, and is closed then', async () => {
  using folder = temporaryFolder()
  const { store, add } = await storeIn(folder.path)
  const key = await add()
  const reader = await opened(store, key)
  await store.remove(key)
  await expect(store.open(key, TEXT.length)).rejects.toBeInstanceOf(BlobMissing)
  expect(await textOf(reader)).toBe(TEXT)
  await reader.close()
  expect(handlesOf(folder.path)).toBe(0)
})

test('what becomes of the file of an open blob is noticed by the next reader', async () => {
  using folder = temporaryFolder()
  const { store, add, pathOf } = await storeIn(folder.path)
  const [lost, replaced, cut] = [await add(), await add(), await add()]
  for (const key of [lost, replaced, cut]) await (await opened(store, key)).close()

  rmSync(pathOf(lost))
  await expect(store.open(lost, TEXT.length)).rejects.toBeInstanceOf(BlobMissing)

  const other = TEXT.toUpperCase()
  writeFileSync(join(folder.path, 'tmp', 'other'), other)
  renameSync(join(folder.path, 'tmp', 'other'), pathOf(replaced))
  const again = await opened(store, replaced)
  expect(await textOf(again)).toBe(other)
  await again.close()

  truncateSync(pathOf(cut), 5)
  await expect(store.open(cut, TEXT.length)).rejects.toBeInstanceOf(BlobDamaged)
})

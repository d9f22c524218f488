import { expect, test } from 'bun:test'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StoreFailure } from '../../../../src/blobs/blob-store.ts'
import { durabilityOf } from '../../../../src/contents/copying.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'

/** Tells which contents were removed. */
function removing() {
  const removed: BlobKey[] = []
  const removeAll = async (keys: readonly BlobKey[]) => {
    removed.push(...keys)
    return [...keys]
  }
  return { removed, removeAll }
}

test('a sync that fails ends the copying, and what it may have lost is removed', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'backup')
  mkdirSync(path)
  const durability = await durabilityOf({ kind: 'folder', path })
  const store = removing()
  if (!durability.isSyncedLater) return
  const [safe, lost, later] = [1, 2, 3].map(() => makeBlobKey(systemRandom))
  if (safe === undefined || lost === undefined || later === undefined) throw new Error('three keys')
  durability.copied(safe)
  await durability.settle()
  await durability.removeLost(store)
  expect(store.removed).toEqual([])
  rmSync(path, { recursive: true })
  durability.copied(lost)
  await expect(durability.settle()).rejects.toThrow(StoreFailure)
  expect(() => durability.copied(later)).toThrow(StoreFailure)
  await durability.removeLost(store)
  expect(store.removed).toEqual([lost, later])
})

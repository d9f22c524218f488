/** The wrapper that every node's store has. */
import { expect, test } from 'bun:test'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { guardStore } from '../../../src/core/store/store-health.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { overridden } from '../../support/storage/overridden.ts'

test('a guarded store is told all that its callers tell: lengths of blobs, and copies of the mark', async () => {
  using folder = temporaryFolder()
  const disk = await openDiskBlobs(folder.path, systemRandom, { alone: true })
  const told: unknown[] = []
  const listening = overridden(disk, {
    create: (key, length) => {
      told.push(['create', length])
      return disk.create(key, length)
    },
    resume: (key, kept, length) => {
      told.push(['resume', length])
      return disk.resume(key, kept, length)
    },
    writeMark: (mark, copy) => {
      told.push(['mark', copy])
      return disk.writeMark(mark, copy)
    },
  })
  const store = guardStore(listening, {
    mark: 'mark',
    removing: { isAllowed: async () => true },
    clock: systemClock,
  })
  await (await store.create(makeBlobKey(systemRandom), 7)).abort()
  await (await store.resume(makeBlobKey(systemRandom), null, 8)).close()
  await store.writeMark('mark', 'mark-copy')
  expect(told).toEqual([
    ['create', 7],
    ['resume', 8],
    ['mark', 'mark-copy'],
  ])
  expect(await store.readMark('mark-copy')).toBe('mark')
})

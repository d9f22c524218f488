/** Each invariant of the stores, made to fail: by a fault below, or by a call that breaks the interface. */
import { describe, expect, test } from 'bun:test'
import { appendFileSync, existsSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { DirectWriting, GrowingFile } from '../../../src/blobs/disk-writing.ts'
import { S3Writer } from '../../../src/blobs/s3.ts'
import { objectOf } from '../../../src/blobs/s3-objects.ts'
import { resumeOnS3 } from '../../../src/blobs/s3-resumable.ts'
import { partMemory, StoredParts } from '../../../src/blobs/s3-uploads.ts'
import type { Invariant } from '../../../src/domain/invariants.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { MemoryS3 } from '../../support/storage/memory-s3.ts'
import { watchDisk } from '../../support/storage/watched-disk.ts'

const PART = 10
const random = chance(28)

const violated = (invariant: Invariant) => ({ name: 'InvariantViolated', invariant })
const brokenBy = (cause: object) => ({ name: 'StoreFailure', reason: 'broken', cause })

async function openStore(folder: string) {
  const store = await openDiskBlobs(folder, systemRandom, { alone: true })
  const key = makeBlobKey(systemRandom)
  return { store, key, finished: join(folder, key.slice(0, 2), key) }
}

const damages: readonly [string, (path: string) => void][] = [
  ['has lost its last byte', (path) => truncateSync(path, 999)],
  ['has another byte', (path) => appendFileSync(path, '+')],
]

describe.each(damages)('a file that %s while it is written', (_, damage) => {
  const sizes = { name: 'BlobDamaged', cause: violated('file-size-is-position') }

  test('does not become a blob', async () => {
    using folder = temporaryFolder()
    const { store, key, finished } = await openStore(folder.path)
    const writer = await store.create(key)
    await writer.write(random.bytes(1000))
    damage(join(folder.path, 'tmp', key))
    await expect(writer.complete()).rejects.toMatchObject(brokenBy(sizes))
    expect(existsSync(finished)).toBe(false)
    await writer.abort()
  })

  test('does not become a resumable blob, kept or not', async () => {
    using folder = temporaryFolder()
    for (const isKept of [true, false]) {
      const { store, key, finished } = await openStore(folder.path)
      const session = await store.resume(key, null)
      await session.write(random.bytes(1000))
      if (isKept) await session.keep()
      damage(join(folder.path, 'resumable', key))
      await expect(session.complete()).rejects.toMatchObject(sizes)
      expect(existsSync(finished)).toBe(false)
      await session.close()
    }
  })
})

test('a position that goes back behind what is synced ends the file', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'growing')
  const handle = await open(path, 'wx')
  const direct = new DirectWriting().start(path)
  const file = new GrowingFile({ handle, path, direct, sync: () => handle.datasync(), from: 0 })
  await file.write(random.bytes(1000))
  await file.sync()
  await file.write(Object.defineProperty(new Uint8Array(), 'byteLength', { value: -1 }))
  const failure = brokenBy(violated('synced-grows-up-to-written'))
  await expect(file.sync()).rejects.toMatchObject(failure)
  await expect(file.write(random.bytes(1))).rejects.toMatchObject(failure)
  expect(file.synced).toBe(1000)
  await file.close()
})

test('bytes that are written on disk while a session keeps do not count as kept', async () => {
  using folder = temporaryFolder()
  const { store, key } = await openStore(folder.path)
  const session = await store.resume(key, null)
  await session.write(random.bytes(1000))
  using disk = await watchDisk()
  disk.before = ({ how }) => {
    if (how === 'datasync') void session.write(random.bytes(1))
  }
  await expect(session.keep()).rejects.toMatchObject(brokenBy(violated('kept-is-written')))
  await session.close()
})

function newObject() {
  const client = new MemoryS3()
  const key = makeBlobKey(systemRandom)
  const planPart = () => ({ size: PART, held: 3 })
  return { client, key, parts: { client, memory: partMemory(1000), random: systemRandom, planPart } }
}

test('bytes that are written to S3 while a session keeps do not count as kept', async () => {
  const { client, key, parts } = newObject()
  const session = await resumeOnS3(parts, key, null)
  await session.write(random.bytes(PART + 1))
  client.before = (_, name) => {
    if (name.startsWith('PUT tails/')) void session.write(random.bytes(1))
  }
  await expect(session.keep()).rejects.toMatchObject(brokenBy(violated('kept-is-written')))
  await session.close()
})

test.each([
  ['the first', [2, 3], 3],
  ['one in the middle', [1, 3], 3],
  ['the last', [1, 2], 3],
  ['one in the middle, and one was not sent', [1, 3], 2],
  ['none, and one was not sent', [1, 2, 3], 2],
  ['none, and one behind a gap was not sent', [1, 2, 4], 2],
])('parts are not joined while %s is missing', (_, numbers, count) => {
  const parts = new StoredParts([])
  for (const number of numbers) parts.add(number, { etag: `"${number}"`, size: PART })
  expect(() => parts.all(count, count * PART)).toThrow(expect.objectContaining(violated('parts-have-no-gap')))
})

test('parts are not joined when they have more or fewer bytes than were written', () => {
  const parts = new StoredParts([{ etag: '"1"', size: PART }])
  parts.add(2, { etag: '"2"', size: 1 })
  for (const bytes of [PART, PART + 2]) {
    expect(() => parts.all(2, bytes)).toThrow(expect.objectContaining(violated('parts-sum-to-total')))
  }
  expect(parts.all(2, PART + 1).map(({ etag }) => etag)).toEqual(['"1"', '"2"'])
})

test.each([-1, 1])('an object that the store tells to be longer by %d is no blob', async (more) => {
  const { client, key, parts } = newObject()
  client.sizeOfObject = ({ length }) => length + more
  const writer = new S3Writer({ ...parts, object: objectOf(key) })
  await writer.write(random.bytes(2 * PART))
  await expect(writer.complete()).rejects.toMatchObject(brokenBy(violated('object-size-is-total')))
})

test('a session does not continue behind parts that the store tells to be smaller', async () => {
  const { client, key, parts } = newObject()
  const session = await resumeOnS3(parts, key, null)
  await session.write(random.bytes(2 * PART))
  const kept = await session.keep()
  await session.close()
  client.sizeOfPart = ({ length }) => length - 1
  const failure = brokenBy(violated('offset-is-sum-of-appends'))
  await expect(resumeOnS3(parts, key, kept)).rejects.toMatchObject(failure)
})

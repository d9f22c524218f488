import { afterAll, expect, test } from 'bun:test'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { startContentHashing } from '../../../src/uploads/hashing/content-hash.ts'
import { BufferedContent } from '../../../src/uploads/incoming-content.ts'
import { chance } from '../../support/chance.ts'
import { sha256 } from '../../support/clients/caller.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { bytesOf, keysOf } from '../../support/storage/blob-chunks.ts'

const LONGEST = 256 * 1024
const MOST = 64
const random = chance(7)
const hashing = startContentHashing()
afterAll(() => hashing.close())

async function withContents(work: (open: (most: number) => ReturnType<typeof opened>) => Promise<void>) {
  using folder = temporaryFolder()
  const blobs = await openDiskBlobs(folder.path, systemRandom, { alone: true })
  await work((most) => opened(blobs, most))
}

function opened(blobs: Awaited<ReturnType<typeof openDiskBlobs>>, most: number) {
  const key = makeBlobKey(systemRandom)
  const told: number[] = []
  const content = BufferedContent.open(key, { blobs, hashing, wrote: (bytes) => told.push(bytes) }, most)
  const stored = async () => {
    const size = await blobs.size(key)
    if (size === null) return null
    return sha256(await bytesOf(await blobs.read(key, 0, size)))
  }
  return { content, stored, told, keys: () => keysOf(blobs) }
}

const done = Promise.resolve()

test('a content gets its name only once its key is recorded', () =>
  withContents(async (open) => {
    const { content, stored, told, keys } = open(1000)
    const bytes = random.bytes(1000)
    await content?.write(bytes.subarray(0, 300))
    await content?.write(bytes.subarray(300))
    const recorded = Promise.withResolvers<void>()
    const completed = content?.complete(recorded.promise)
    await Bun.sleep(50)
    expect(await keys()).toEqual([])
    recorded.resolve()
    expect(await completed).toMatchObject({ sha256: sha256(bytes) })
    expect(await stored()).toBe(sha256(bytes))
    expect(told).toEqual([1000])
  }))

test('a content that is longer than it may be is stored as it comes', () =>
  withContents(async (open) => {
    const { content, stored, told } = open(1)
    const bytes = random.bytes(LONGEST + 2000)
    await content?.write(bytes.subarray(0, LONGEST - 1))
    await content?.write(bytes.subarray(LONGEST - 1, LONGEST + 1))
    await content?.write(bytes.subarray(LONGEST + 1))
    expect(await content?.complete(done)).toMatchObject({ sha256: sha256(bytes) })
    expect(await stored()).toBe(sha256(bytes))
    expect(told.reduce((sum, part) => sum + part, 0)).toBe(bytes.length)
  }))

test('an aborted content leaves nothing, buffered or stored as it comes or completed', () =>
  withContents(async (open) => {
    for (const [size, isCompleted] of [
      [1000, false],
      [LONGEST + 1, false],
      [1000, true],
    ] as const) {
      const { content, keys } = open(1000)
      await content?.write(random.bytes(size))
      if (isCompleted) await content?.complete(done)
      await content?.abort()
      expect(await keys()).toEqual([])
    }
  }))

test('only so many are buffered at a time, and none of a length that is unknown or long', () =>
  withContents(async (open) => {
    expect(open(0).content).toBeNull()
    expect(open(LONGEST + 1).content).toBeNull()
    const contents = Array.from({ length: MOST }, () => open(LONGEST).content)
    expect(contents).not.toContain(null)
    expect(open(1).content).toBeNull()
    await contents[0]?.abort()
    contents[0] = open(1).content
    expect(contents[0]).not.toBeNull()
    for (const content of contents) await content?.abort()
  }))

import { afterAll, describe, expect, test } from 'bun:test'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { openDiskBlobs } from '../../../../src/blobs/disk.ts'
import { encrypted, makeKey } from '../../../../src/contents/backup-encryption.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'
import { chance } from '../../../support/chance.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { bytesOf } from '../../../support/storage/blob-chunks.ts'

const KIB = 1024
const CHUNK = 64 * KIB
const SEALED_CHUNK = CHUNK + 16
const SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 5 * CHUNK + 123]

const folder = temporaryFolder()
const { key } = await makeKey('a passphrase')
const plain = await openDiskBlobs(folder.path, systemRandom, { alone: true })
const store = encrypted(plain, key, 'content')
afterAll(() => folder[Symbol.dispose]())

const pathOf = (blob: BlobKey) => join(folder.path, blob.slice(0, 2), blob)
const storedBytes = async (blob: BlobKey) => Buffer.from(await Bun.file(pathOf(blob)).arrayBuffer())

async function put(content: Uint8Array): Promise<BlobKey> {
  const blob = makeBlobKey(systemRandom)
  const writer = await store.create(blob)
  // In pieces that are no chunks.
  for (let at = 0; at < content.length; at += 50_000) await writer.write(content.slice(at, at + 50_000))
  await writer.complete()
  return blob
}

async function get(blob: BlobKey, size: number): Promise<Buffer> {
  return bytesOf(await store.read(blob, 0, size))
}

test.each(SIZES)('a content of %d bytes comes back, and has its size', async (size) => {
  const content = Buffer.from(chance(size).bytes(size))
  const blob = await put(content)
  expect(await store.size(blob)).toBe(size)
  expect(await get(blob, size)).toEqual(content)
  const stored = await storedBytes(blob)
  if (size > 100) expect(stored.includes(content.subarray(0, 100))).toBe(false)
})

test('an object in the place of another, or of another kind, is refused', async () => {
  const [one, other] = [await put(chance(3).bytes(1000)), await put(chance(4).bytes(1000))]
  await Bun.write(pathOf(one), await storedBytes(other))
  await expect(get(one, 1000)).rejects.toThrow()
  const rows = encrypted(plain, key, 'rows')
  const body = await rows.read(other, 0, 1000)
  await expect(bytesOf(body)).rejects.toThrow()
})

test('one content twice is two different files', async () => {
  const content = chance(1).bytes(1000)
  const [one, other] = [await put(content), await put(content)]
  expect(await storedBytes(one)).not.toEqual(await storedBytes(other))
})

describe('a content that somebody has changed', () => {
  const size = 3 * CHUNK
  const refused = async (change: (stored: Buffer, head: number) => Buffer) => {
    const blob = await put(chance(2).bytes(size))
    const stored = await storedBytes(blob)
    await Bun.write(pathOf(blob), change(stored, stored.length - 3 * SEALED_CHUNK))
    await expect(get(blob, size)).rejects.toThrow()
  }
  const chunkAt = (number: number, head: number) => head + number * SEALED_CHUNK

  test.each([0, 30, 200, CHUNK, 3 * CHUNK])('in byte %d is refused', (place) =>
    refused((stored) => {
      stored[place] = (stored[place] ?? 0) ^ 1
      return stored
    }),
  )

  test('by changing places of its chunks is refused', () =>
    refused((stored, head) => {
      const [first, second, third] = [0, 1, 2].map((number) =>
        stored.subarray(chunkAt(number, head), chunkAt(number + 1, head)),
      )
      return Buffer.concat([
        stored.subarray(0, head),
        ...[second, first, third].flatMap((each) => each ?? []),
      ])
    }))

  test('by cutting it at the end of a chunk is refused', async () => {
    const blob = await put(chance(2).bytes(size))
    const whole = Bun.file(pathOf(blob)).size
    for (const left of [whole - SEALED_CHUNK, whole - 3 * SEALED_CHUNK, 20, 0]) {
      truncateSync(pathOf(blob), left)
      await expect(get(blob, size)).rejects.toThrow()
    }
  })
})

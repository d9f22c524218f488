import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import {
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  readInto,
  StoreFailure,
} from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import type { BlobKey, Sha256 } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { bytesOf, keysOf } from '../../support/storage/blob-chunks.ts'
import { type NewPlace, onEveryStore, type Place } from '../../support/storage/blob-places.ts'
import { openMemoryBlobs } from '../../worlds/memory-blobs.ts'
import { MemoryStore } from '../../worlds/memory-store.ts'

const MIB = 1024 * 1024
const random = chance(20)

const newKey = () => makeBlobKey(systemRandom)

function blobStoreContract(name: string, newPlace: NewPlace): void {
  describe(`a blob store on ${name}`, () => {
    const places = new DisposableStack()
    let place: Place
    let store: BlobStore
    beforeAll(async () => {
      place = await newPlace(places)
      store = await place()
    })
    afterAll(() => places.dispose())

    async function put(key: BlobKey, ...chunks: readonly Uint8Array[]): Promise<void> {
      const writer = await store.create(key)
      for (const chunk of chunks) await writer.write(chunk)
      await writer.complete()
    }

    async function get(key: BlobKey, start: number, end: number): Promise<Buffer> {
      return bytesOf(await store.read(key, start, end))
    }

    async function keys(): Promise<Set<BlobKey>> {
      return new Set(await keysOf(store))
    }

    test.each([0, 1, 1000, 64 * 1024 + 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 40 * MIB + 12_345])(
      'gives back %d bytes as they were written',
      async (size) => {
        const key = newKey()
        const content = random.bytes(size)
        await put(key, content)
        expect(await store.size(key)).toBe(size)
        expect((await get(key, 0, size)).equals(content)).toBe(true)
      },
    )

    test.each([0, 1, 256 * 1024])('stores %d bytes in one piece, and removes them', async (size) => {
      const key = newKey()
      const content = random.bytes(size)
      await store.put(key, content, Bun.SHA256.hash(content, 'hex') as Sha256)
      expect((await get(key, 0, size)).equals(content)).toBe(true)
      expect(await keys()).toContain(key)
      await store.remove(key)
      expect(await store.size(key)).toBeNull()
    })

    test('puts chunks of any size together in their order', async () => {
      const key = newKey()
      const content = random.bytes(20 * MIB)
      const chunks: Uint8Array[] = []
      for (let at = 0; at < content.length; ) {
        const length = random.pick([0, 1, 4096, 65_536, 1_000_003, 9 * MIB])
        chunks.push(content.subarray(at, at + length))
        at += length
      }
      await put(key, ...chunks)
      expect((await get(key, 0, content.length)).equals(content)).toBe(true)
    })

    test('takes chunks before those before them are stored, in the order of the calls', async () => {
      const key = newKey()
      const content = random.bytes(40 * MIB)
      const writer = await store.create(key)
      const chunks = Array.from({ length: 40 }, (_, at) => content.subarray(at * MIB, (at + 1) * MIB))
      await Promise.all(chunks.map((chunk) => writer.write(chunk)))
      await writer.complete()
      expect((await get(key, 0, content.length)).equals(content)).toBe(true)
    })

    test('has done with a chunk when the write is settled', async () => {
      const key = newKey()
      const writer = await store.create(key)
      const chunk = new Uint8Array(3 * MIB)
      for (let value = 1; value <= 6; value++) await writer.write(chunk.fill(value))
      chunk.fill(99)
      await writer.complete()
      for (let value = 1; value <= 6; value++) {
        const part = await get(key, (value - 1) * chunk.length, value * chunk.length)
        expect(part.every((byte) => byte === value)).toBe(true)
      }
    })

    test('gives back any range', async () => {
      const key = newKey()
      const content = random.bytes(9 * MIB)
      await put(key, content)
      const ranges = Array.from({ length: 20 }, () => {
        const start = random.whole(0, content.length - 1)
        return [start, random.whole(start + 1, content.length)] as const
      })
      const edges = [[0, 1] as const, [content.length - 1, content.length] as const, [5, 5] as const]
      for (const [start, end] of [...ranges, ...edges]) {
        expect((await get(key, start, end)).equals(content.subarray(start, end))).toBe(true)
      }
    })

    test('fills memory with the bytes from any place on', async () => {
      const key = newKey()
      const content = random.bytes(2 * MIB)
      await put(key, content)
      const places = [[0, 2 * MIB] as const, [5, 1] as const, [2 * MIB - 1, 1] as const, [100, MIB] as const]
      for (const [start, length] of [...places, [2 * MIB, 0] as const]) {
        const memory = new Uint8Array(length + 20).fill(0xee)
        await readInto(store, key, start, memory.subarray(10, 10 + length))
        expect(
          Buffer.from(memory.subarray(10, 10 + length)).equals(content.subarray(start, start + length)),
        ).toBe(true)
        expect([...memory.subarray(0, 10), ...memory.subarray(10 + length)]).toEqual(Array(20).fill(0xee))
      }
    })

    test('fails to fill memory with more than there is', async () => {
      const key = newKey()
      await put(key, random.bytes(1000))
      for (const start of [1, 1000, 5000]) {
        await expect(readInto(store, key, start, new Uint8Array(1000))).rejects.toBeInstanceOf(StoreFailure)
      }
    })

    test.each([3, 20 * MIB])('shows nothing of %d bytes before they are complete', async (size) => {
      const key = newKey()
      const writer = await store.create(key)
      await writer.write(random.bytes(size))
      expect(await store.size(key)).toBeNull()
      await expect(store.read(key, 0, 1)).rejects.toBeInstanceOf(BlobMissing)
      await writer.complete()
      expect(await store.size(key)).toBe(size)
    })

    test('keeps writers of different blobs apart', async () => {
      const blobs = Array.from({ length: 8 }, () => ({ key: newKey(), content: random.bytes(10 * MIB) }))
      await Promise.all(
        blobs.map(({ key, content }) => put(key, content.subarray(0, 999), content.subarray(999))),
      )
      for (const { key, content } of blobs) {
        expect((await get(key, 0, content.length)).equals(content)).toBe(true)
      }
    })

    test('says when a blob was stored', async () => {
      const key = newKey()
      // A store's clock may tick in whole seconds.
      const before = Date.now() - 2000
      await put(key, random.bytes(10))
      const listed = await Array.fromAsync(store.list())
      const storedAt = listed.find((blob) => blob.key === key)?.storedAt
      expect(storedAt).toBeGreaterThan(before)
      expect(storedAt).toBeLessThan(Date.now() + 2000)
    })

    test('says that a blob is missing', async () => {
      const key = newKey()
      expect(await store.size(key)).toBeNull()
      await expect(store.read(key, 0, 1)).rejects.toBeInstanceOf(BlobMissing)
      await expect(store.read(key, 0, 0)).rejects.toBeInstanceOf(BlobMissing)
      await expect(readInto(store, key, 0, new Uint8Array(1))).rejects.toBeInstanceOf(BlobMissing)
      await expect(readInto(store, key, 0, new Uint8Array())).rejects.toBeInstanceOf(BlobMissing)
    })

    test('removes a blob, and a missing one too', async () => {
      const key = newKey()
      await put(key, random.bytes(10))
      await store.remove(key)
      expect(await store.size(key)).toBeNull()
      await expect(store.read(key, 0, 1)).rejects.toBeInstanceOf(BlobMissing)
      await store.remove(key)
      expect(await keys()).not.toContain(key)
    })

    test.each([0, 3, 30 * MIB])('keeps nothing of an upload aborted after %d bytes', async (size) => {
      const key = newKey()
      const writer = await store.create(key)
      await writer.write(random.bytes(size))
      await writer.abort()
      await writer.abort()
      expect(await store.size(key)).toBeNull()
      expect(await keys()).not.toContain(key)
    })

    test.each([3, 20 * MIB])('keeps nothing of an upload of %d bytes aborted after its end', async (size) => {
      const key = newKey()
      const writer = await store.create(key)
      await writer.write(random.bytes(size))
      await writer.complete()
      await writer.abort()
      expect(await store.size(key)).toBeNull()
      expect(await keys()).not.toContain(key)
    })

    test('takes nothing more once it is aborted', async () => {
      const writer = await store.create(newKey())
      await writer.write(random.bytes(10 * MIB))
      await writer.abort()
      await expect((async () => writer.write(random.bytes(10 * MIB)))()).rejects.toThrow()
      await expect(writer.complete()).rejects.toThrow()
    })

    test('names and removes what a killed process left unfinished', async () => {
      const key = newKey()
      const writer = await store.create(key)
      await writer.write(random.bytes(20 * MIB))
      await eventually('the unfinished blob is named', async () => (await keys()).has(key))
      await store.remove(key)
      expect(await keys()).not.toContain(key)
      expect(await store.size(key)).toBeNull()
      await writer.abort()
    })

    test('removes many at once: whole ones, unfinished ones and missing ones, and no others', async () => {
      const whole = Array.from({ length: 6 }, newKey)
      const spared = newKey()
      const unfinished = newKey()
      const between = newKey()
      for (const key of [...whole, spared]) await put(key, random.bytes(1000))
      const writer = await store.create(unfinished)
      await writer.write(random.bytes(20 * MIB))
      await eventually('the unfinished blob is named', async () => (await keys()).has(unfinished))
      const session = await store.resume(between, null)
      await session.write(random.bytes(9 * MIB))
      await session.keep()
      await session.close()
      expect(await keys()).toContain(between)

      const all = [...whole, unfinished, between, newKey()]
      const failures: unknown[] = []
      const removed = await store.removeAll(all, (error) => failures.push(error))
      expect(failures).toEqual([])
      expect(removed.toSorted()).toEqual(all.toSorted())
      const left = await keys()
      expect(all.filter((key) => left.has(key))).toEqual([])
      expect(await store.size(spared)).toBe(1000)
      await writer.abort()
    })

    test('names every blob, more than fit on one page of any list', async () => {
      const many = Array.from({ length: 1100 }, newKey)
      for (let at = 0; at < many.length; at += 50) {
        await Promise.all(many.slice(at, at + 50).map((key) => put(key, Buffer.from(key))))
      }
      const found = await keys()
      expect(many.filter((key) => !found.has(key))).toEqual([])
      const sizes = new Map<string, number | null>()
      for await (const { key, size } of store.list()) sizes.set(key, size)
      expect(many.filter((key) => sizes.get(key) !== Buffer.from(key).length)).toEqual([])
    })

    test('lists an unfinished blob without a size', async () => {
      const fresh = await (await newPlace(places))()
      const [whole, begun] = [newKey(), newKey()]
      const writer = await fresh.create(begun)
      // More than one part of an S3 upload.
      await writer.write(random.bytes(20 * MIB))
      const other = await fresh.create(whole)
      await other.write(Buffer.from('whole'))
      await other.complete()
      const sizes = new Map<string, number | null>()
      for await (const { key, size } of fresh.list()) sizes.set(key, size)
      expect(sizes).toEqual(
        new Map([
          [begun, null],
          [whole, 5],
        ]),
      )
      await writer.abort()
    })

    test('has no mark at first, keeps one, and does not take it for a blob', async () => {
      const fresh = await (await newPlace(places))()
      expect(await fresh.readMark()).toBeNull()
      await fresh.writeMark('first')
      await fresh.writeMark('second')
      expect(await fresh.readMark()).toBe('second')
      expect(await fresh.readMark('mark-copy')).toBeNull()
      await fresh.writeMark('third', 'mark-copy')
      expect(await Promise.all([fresh.readMark(), fresh.readMark('mark-copy')])).toEqual(['second', 'third'])
      expect(await keysOf(fresh)).toEqual([])
    })

    test('is the same for everybody who opens it, also while somebody writes', async () => {
      const key = newKey()
      const content = random.bytes(20 * MIB)
      const writer = await store.create(key)
      await writer.write(content.subarray(0, 15 * MIB))
      const other = await place()
      expect(await other.size(key)).toBeNull()
      await writer.write(content.subarray(15 * MIB))
      await writer.complete()
      expect(await other.size(key)).toBe(content.length)
      expect((await bytesOf(await other.read(key, 7, content.length))).equals(content.subarray(7))).toBe(true)
    })

    test('is probed without leaving anything', async () => {
      const fresh = await (await newPlace(places))()
      await Promise.all([fresh.probe(), fresh.probe()])
      expect(await keysOf(fresh)).toEqual([])
    })

    test('lets a reader go in the middle', async () => {
      const key = newKey()
      await put(key, random.bytes(16 * MIB))
      for (let times = 0; times < 300; times++) {
        const chunks = await store.read(key, 0, 16 * MIB)
        expect((await chunks.next())?.length).toBeGreaterThan(0)
        chunks.cancel()
        expect(await chunks.next()).toBeNull()
      }
      // More readers than there are connections to a store: a single one kept would be missed by now.
      expect((await get(key, 0, 1)).length).toBe(1)
    })
  })
}

onEveryStore('the contract of blob stores', blobStoreContract)

describe('blobs on disk', () => {
  test('are opened at their size alone, and can then be read although they are removed', async () => {
    using folder = temporaryFolder()
    const store = await openDiskBlobs(join(folder.path, 'blobs'), systemRandom, { alone: true })
    const key = newKey()
    await expect(store.read(key, 0, 1, 1000)).rejects.toBeInstanceOf(BlobMissing)
    const content = random.bytes(1000)
    const writer = await store.create(key)
    await writer.write(content)
    await writer.complete()
    for (const size of [0, 999, 1001]) {
      await expect(store.read(key, 0, 0, size)).rejects.toBeInstanceOf(BlobDamaged)
    }
    const chunks = await store.read(key, 300, 1000, 1000)
    await store.remove(key)
    expect((await bytesOf(chunks)).equals(content.subarray(300))).toBe(true)
    chunks.cancel()
    chunks.cancel()
  })

  test('are damaged when they are truncated after they were opened', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'blobs')
    const store = await openDiskBlobs(path, systemRandom, { alone: true })
    const key = newKey()
    const writer = await store.create(key)
    await writer.write(random.bytes(1000))
    await writer.complete()
    const ranges = [
      [0, 900],
      [0, 901],
      [950, 1000],
    ] as const
    const [whole, cut, gone] = await Promise.all(
      ranges.map(([start, end]) => store.read(key, start, end, 1000)),
    )
    if (whole === undefined || cut === undefined || gone === undefined) throw new Error('three were read')
    await truncate(join(path, key.slice(0, 2), key), 900)
    expect((await bytesOf(whole)).length).toBe(900)
    await expect(bytesOf(cut)).rejects.toBeInstanceOf(BlobDamaged)
    await expect(bytesOf(gone)).rejects.toBeInstanceOf(BlobDamaged)
  })

  test('are cleared of unfinished ones by who opens them alone, and by nobody else', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'blobs')
    const store = await openDiskBlobs(path, systemRandom, { alone: true })
    const key = newKey()
    const writer = await store.create(key)
    await openDiskBlobs(path, systemRandom, { alone: false })
    expect(existsSync(join(path, 'tmp', key))).toBe(true)
    await openDiskBlobs(path, systemRandom, { alone: true })
    expect(existsSync(join(path, 'tmp', key))).toBe(false)
    await writer.abort()
  })

  test('stay when they wait for their next session, whoever opens them', async () => {
    using folder = temporaryFolder()
    const store = await openDiskBlobs(folder.path, systemRandom, { alone: true })
    const key = newKey()
    const first = await store.resume(key, null)
    await first.write(random.bytes(1000))
    const kept = await first.keep()
    await first.close()
    const opened = await openDiskBlobs(folder.path, systemRandom, { alone: true })
    const second = await opened.resume(key, kept)
    await second.complete()
    expect(await opened.size(key)).toBe(1000)
  })

  test('have no address of their own', async () => {
    using folder = temporaryFolder()
    const store = await openDiskBlobs(folder.path, systemRandom, { alone: true })
    expect(await store.link(newKey(), { seconds: 60, type: 'text/plain', disposition: 'inline' })).toBeNull()
  })
})
blobStoreContract('a disk that is synced later', async (stack) => {
  const folder = stack.use(temporaryFolder())
  const options = { alone: false, isSyncedLater: true }
  return () => openDiskBlobs(join(folder.path, 'blobs'), systemRandom, options)
})

// Worlds are only as good as their store.
blobStoreContract('the memory of seeded worlds', async () => {
  const store = openMemoryBlobs(new MemoryStore(), { turn: async () => null }, Date.now)
  // To open it again is to begin another life of it.
  return async () => store
})

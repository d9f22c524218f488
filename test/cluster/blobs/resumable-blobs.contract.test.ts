import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BlobMissing, type BlobStore, type KeptBlob } from '../../../src/blobs/blob-store.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { eventually } from '../../support/eventually.ts'
import { bytesOf, keysOf } from '../../support/storage/blob-chunks.ts'
import { type NewPlace, onEveryStore, type Place } from '../../support/storage/blob-places.ts'

const MIB = 1024 * 1024
const random = chance(24)
const newKey = () => makeBlobKey(systemRandom)

function resumableContract(name: string, newPlace: NewPlace): void {
  describe(`a blob on ${name} that is written in several sessions`, () => {
    const places = new DisposableStack()
    let place: Place
    let store: BlobStore
    beforeAll(async () => {
      place = await newPlace(places)
      store = await place()
    })
    afterAll(() => places.dispose())

    async function get(key: BlobKey): Promise<Buffer> {
      return bytesOf(await store.read(key, 0, (await store.size(key)) ?? 0))
    }

    const isNamed = async (key: BlobKey) => (await keysOf(store)).includes(key)

    /** What is recorded of an unfinished blob that is shown. */
    async function growing(key: BlobKey, kept: KeptBlob): Promise<Buffer> {
      const blob = await store.openGrowing(key)
      const bytes = Buffer.alloc(kept.offset)
      for (let at = 0; at < bytes.length; ) {
        const end = await blob.readableFrom(at, kept)
        expect(end).toBeGreaterThan(at)
        await blob.readInto(at, bytes.subarray(at, end))
        at = end
      }
      await blob.close()
      return bytes
    }

    /** A session that writes the content, keeps it and ends. */
    async function writeSession(
      key: BlobKey,
      before: KeptBlob | null,
      content: Uint8Array,
    ): Promise<KeptBlob> {
      const writer = await store.resume(key, before)
      try {
        await writer.write(content)
        return await writer.keep()
      } finally {
        await writer.close()
      }
    }

    const length = fc.oneof(
      fc.constantFrom(0, 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1),
      fc.integer({ min: 0, max: 100_000 }),
      fc.integer({ min: 0, max: 10 * MIB }),
    )
    /** Whoever goes on sends the same file again, which reaches beyond whatever came of it before. */
    const rest = random.bytes(31 * MIB)
    const sessions = fc.array(
      fc.record({
        chunks: fc.array(length, { maxLength: 2 }),
        lost: fc.option(length, { nil: 0 }),
        isRecorded: fc.boolean(),
        isKeptAgain: fc.boolean(),
        isFollowed: fc.boolean(),
      }),
      { minLength: 1, maxLength: 5 },
    )

    test('is what was kept, wherever sessions end and whatever they wrote after that', async () => {
      await fc.assert(
        fc.asyncProperty(sessions, async (all) => {
          const key = newKey()
          const recorded: Uint8Array[] = []
          let kept = await writeSession(key, null, new Uint8Array())
          let isReadable = false
          for (const { chunks, lost, isRecorded, isKeptAgain, isFollowed } of all) {
            const writer = await (await place()).resume(key, kept)
            isReadable ||= isFollowed
            if (isReadable) await writer.makeReadable()
            const written = chunks.map((size) => random.bytes(size))
            for (const chunk of written) await writer.write(chunk)
            const now = await writer.keep()
            if (isRecorded) {
              kept = now
              recorded.push(...written)
            }
            await writer.write(random.bytes(lost))
            // What was kept and not recorded is there to be mistaken for something.
            if (isRecorded && isKeptAgain) await writer.keep()
            await writer.close()
            if (isReadable) expect((await growing(key, kept)).equals(Buffer.concat(recorded))).toBe(true)
          }
          const whole = await writeSession(key, kept, rest)
          const last = await store.resume(key, whole)
          await last.complete()
          expect((await get(key)).equals(Buffer.concat([...recorded, rest]))).toBe(true)
          await store.remove(key)
          expect(await isNamed(key)).toBe(false)
        }),
        { numRuns: 5 },
      )
    })

    test.each([3, 20 * MIB])('of %d bytes is not there before it is complete', async (size) => {
      const key = newKey()
      const kept = await writeSession(key, null, random.bytes(size))
      expect(kept.offset).toBe(size)
      expect(await store.size(key)).toBeNull()
      await expect(store.read(key, 0, 1)).rejects.toBeInstanceOf(BlobMissing)
      expect(await isNamed(key)).toBe(true)
    })

    test.each([0, 3, 20 * MIB])('of %d bytes may be whole after one session, never kept', async (size) => {
      const key = newKey()
      const content = random.bytes(size)
      const writer = await store.resume(key, null)
      await writer.write(content)
      await writer.complete()
      await writer.close()
      expect((await get(key)).equals(content)).toBe(true)
    })

    test.each([0, 3, 20 * MIB])(
      'of %d bytes is completed again where nobody knew that it was',
      async (size) => {
        const key = newKey()
        const content = random.bytes(size)
        const kept = await writeSession(key, null, content)
        for (let times = 0; times < 3; times++) {
          const writer = await (await place()).resume(key, kept)
          expect((await writer.keep()).offset).toBe(size)
          expect(writer.safe()).toBeNull()
          await writer.complete()
          await writer.close()
        }
        expect((await get(key)).equals(content)).toBe(true)
      },
    )

    test('takes no more bytes once it is whole', async () => {
      const key = newKey()
      const kept = await writeSession(key, null, random.bytes(9 * MIB))
      await (await store.resume(key, kept)).complete()
      const writer = await store.resume(key, kept)
      await expect(writer.write(random.bytes(1))).rejects.toThrow()
    })

    test('is not completed while some of it is not kept', async () => {
      const key = newKey()
      const kept = await writeSession(key, null, random.bytes(1000))
      const writer = await store.resume(key, kept)
      await writer.write(random.bytes(1))
      await expect(writer.complete()).rejects.toThrow('1001 bytes were written and 1000 kept')
      expect(await store.size(key)).toBeNull()
      await writer.keep()
      await writer.complete()
      expect(await store.size(key)).toBe(1001)
    })

    test('goes on from what was recorded when a later keep was not', async () => {
      const key = newKey()
      const [first, second, third] = [9 * MIB + 5, 12 * MIB, 1 * MIB].map((size) => random.bytes(size))
      if (!first || !second || !third) throw new Error('three are needed')
      const recorded = await writeSession(key, null, first)
      await writeSession(key, recorded, random.bytes(17 * MIB))
      await writeSession(key, recorded, random.bytes(3))
      const next = await writeSession(key, recorded, second)
      const whole = await writeSession(key, next, third)
      await (await store.resume(key, whole)).complete()
      expect((await get(key)).equals(Buffer.concat([first, second, third]))).toBe(true)
    })

    test('begins again from nothing after it was removed', async () => {
      const key = newKey()
      await writeSession(key, null, random.bytes(9 * MIB))
      await store.remove(key)
      const content = random.bytes(10 * MIB)
      const kept = await writeSession(key, null, content)
      await (await store.resume(key, kept)).complete()
      expect((await get(key)).equals(content)).toBe(true)
    })

    test('is gone with all that was kept when it is removed', async () => {
      const key = newKey()
      const kept = await writeSession(
        key,
        await writeSession(key, null, random.bytes(9 * MIB)),
        random.bytes(9 * MIB),
      )
      await store.remove(key)
      expect(await isNamed(key)).toBe(false)
      await expect(store.resume(key, kept)).rejects.toBeInstanceOf(BlobMissing)
    })

    test('tells what of a long session is safe without being asked to keep it', async () => {
      const key = newKey()
      const content = random.bytes(40 * MIB)
      const writer = await store.resume(key, null)
      expect(writer.safe()).toBeNull()
      await writer.write(content)
      let kept: KeptBlob | null = null
      await eventually('some of it is safe', () => {
        kept = writer.safe() ?? kept
        return kept !== null
      })
      await writer.close()
      if (kept === null) throw new Error('nothing was')
      const { offset }: KeptBlob = kept
      expect(offset).toBeLessThanOrEqual(content.length)
      const next = await store.resume(key, kept)
      await next.write(content.subarray(offset))
      await next.keep()
      await next.complete()
      expect((await get(key)).equals(content)).toBe(true)
    })

    test('is left as it was kept by a session that is closed in the middle of a write', async () => {
      const key = newKey()
      const content = random.bytes(9 * MIB)
      const kept = await writeSession(key, null, content)
      const writer = await store.resume(key, kept)
      const writing = writer.write(random.bytes(60 * MIB)).catch(() => {})
      await writer.close()
      await writing
      await writer.close()
      await expect(writer.write(random.bytes(1))).rejects.toThrow()
      await expect(writer.keep()).rejects.toThrow()
      await (await store.resume(key, kept)).complete()
      expect((await get(key)).equals(content)).toBe(true)
    })

    test('is left as it was kept by a session that is closed while it keeps more', async () => {
      const key = newKey()
      const content = random.bytes(9 * MIB)
      const kept = await writeSession(key, null, content)
      const writer = await store.resume(key, kept)
      await writer.write(random.bytes(10 * MIB))
      const keeping = writer.keep().catch(() => {})
      await writer.close()
      await keeping
      await (await store.resume(key, kept)).complete()
      expect((await get(key)).equals(content)).toBe(true)
    })

    test('has done with a chunk when the write is settled', async () => {
      const key = newKey()
      const writer = await store.resume(key, null)
      const chunk = new Uint8Array(3 * MIB)
      for (let value = 1; value <= 6; value++) await writer.write(chunk.fill(value))
      chunk.fill(99)
      await writer.keep()
      await writer.complete()
      const whole = await get(key)
      for (let value = 1; value <= 6; value++) {
        expect(whole.subarray((value - 1) * chunk.length, value * chunk.length)).toEqual(
          Buffer.alloc(chunk.length, value),
        )
      }
    })
  })
}

onEveryStore('the contract of resumable blobs', resumableContract)

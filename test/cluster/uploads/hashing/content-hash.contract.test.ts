import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { startContentHashing } from '../../../../src/uploads/hashing/content-hash.ts'
import { HashingWriter } from '../../../../src/uploads/hashing-writer.ts'
import { runsOf } from '../../../support/cases.ts'

const hashing = startContentHashing()
afterAll(() => hashing.close())

const MIB = 1024 * 1024
const noise = randomBytes(4 * MIB)

const piece = fc.record({
  start: fc.nat(2 * MIB),
  length: fc.integer({ min: 1, max: 2 * MIB }),
  /** What is asked for after it has come. */
  after: fc.constantFrom('nothing', 'flush', 'rest'),
})
const content = fc.record({
  from: fc.constantFrom(0, 1, 4096, 100_000_000),
  /** The most milliseconds that storing a piece takes. */
  slowness: fc.nat(2),
  pieces: fc.array(piece, { maxLength: 6 }),
  isDropped: fc.boolean(),
})
type Content = typeof content extends fc.Arbitrary<infer Value> ? Value : never

async function takeIn({ from, slowness, pieces, isDropped }: Content): Promise<void> {
  const parts: Uint8Array[] = []
  const stored: Uint8Array[] = []
  const hash = hashing.start()
  const store = async (bytes: Uint8Array) => {
    if (slowness > 0) await Bun.sleep(slowness)
    stored.push(bytes.slice())
  }
  const writer = new HashingWriter({ hashing, hash, store, from })
  for (const { start, length, after } of pieces) {
    const part = noise.subarray(start, start + length)
    parts.push(part)
    const chunk = new Uint8Array(part)
    await writer.write(chunk)
    // It is ours again at once.
    chunk.fill(0)
    if (after !== 'nothing') {
      await writer.flush()
      expect(Buffer.concat(stored).equals(Buffer.concat(parts))).toBe(true)
    }
    if (after === 'rest') await writer.rest()
  }
  if (isDropped) {
    await writer.rest()
    return hash.drop()
  }
  const whole = Buffer.concat(parts)
  const sha256 = new Bun.CryptoHasher('sha256').update(whole).digest('hex')
  expect(await writer.end()).toMatchObject({ sha256, crc32: crc32(whole) })
  expect(Buffer.concat(stored).equals(whole)).toBe(true)
}

test('contents that come at once are stored whole with their own hashes, however they come and rest', async () => {
  const contents = fc.array(content, { minLength: 1, maxLength: 8 })
  const property = fc.asyncProperty(contents, async (all) => {
    await Promise.all(all.map(takeIn))
  })
  await fc.assert(property, { numRuns: runsOf(25) })
})

test('what cannot be stored is said at the next call and no more is stored, and all memory is there again', async () => {
  for (let times = 0; times < 20; times++) {
    let stored = 0
    const store = async () => {
      if (++stored === 2) throw new Error('no room')
    }
    const hash = hashing.start()
    const writer = new HashingWriter({ hashing, hash, store, from: 0 })
    const writing = async () => {
      for (let piece = 0; piece < 20; piece++) await writer.write(noise.subarray(0, MIB))
    }
    await expect(writing()).rejects.toThrow('no room')
    await expect(writer.flush()).rejects.toThrow('no room')
    await expect(writer.end()).rejects.toThrow('no room')
    expect(stored).toBe(2)
    await writer.rest()
    hash.drop()
  }
  const lane = hashing.lend()
  expect(lane?.blocks).not.toHaveLength(0)
  lane?.giveBack()
})

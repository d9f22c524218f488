import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { startContentHashing } from '../../src/services/content-hash.ts'

const hashing = startContentHashing()
afterAll(() => hashing.close())

const MIB = 1024 * 1024
const noise = randomBytes(4 * MIB)

const piece = fc.record({
  from: fc.nat(2 * MIB),
  length: fc.integer({ min: 1, max: 2 * MIB }),
  rests: fc.boolean(),
})
const content = fc.record({ pieces: fc.array(piece, { maxLength: 6 }), isDropped: fc.boolean() })
type Content = typeof content extends fc.Arbitrary<infer Value> ? Value : never

async function hashed({ pieces, isDropped }: Content): Promise<void> {
  const hash = hashing.start()
  const parts: Uint8Array[] = []
  for (const { from, length, rests } of pieces) {
    const part = noise.subarray(from, from + length)
    parts.push(part)
    const chunk = new Uint8Array(part)
    await hash.update(chunk)
    // It is ours again at once.
    chunk.fill(0)
    if (rests) hash.rest()
  }
  if (isDropped) return hash.drop()
  const whole = Buffer.concat(parts)
  const sha256 = new Bun.CryptoHasher('sha256').update(whole).digest('hex')
  expect(await hash.digest()).toMatchObject({ sha256, crc32: crc32(whole) })
}

test('contents that come at once have their own hashes, however they come in pieces and rest', async () => {
  const contents = fc.array(content, { minLength: 1, maxLength: 8 })
  const property = fc.asyncProperty(contents, async (all) => {
    await Promise.all(all.map(hashed))
  })
  await fc.assert(property, { numRuns: 25 })
})

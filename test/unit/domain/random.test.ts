import { describe, expect, spyOn, test } from 'bun:test'
import { makeFolderIdentifier, makeSlug, makeUuid, systemRandom } from '../../../src/domain/random.ts'

describe('slug randomness:', () => {
  test('random bytes come from the CSPRNG of the system, as many as were asked for', () => {
    using source = spyOn(crypto, 'getRandomValues')
    expect(systemRandom(12)).toHaveLength(12)
    expect(source).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['a slug', makeSlug, /^[A-Za-z][A-Za-z0-9]{11}$/, [52, 62]],
    ['the identifier of a folder', makeFolderIdentifier, /^[a-z][a-z0-9]{15}$/, [26, 36]],
  ] as const)('no character of %s is likelier than another by the modulus', (_, make, shape, sizes) => {
    // The first call is for the first character, the second for all others; bytes that are no use ask for a third.
    for (const [place, size] of sizes.entries()) {
      const counts = new Map<string, number>()
      for (let byte = 0; byte < 256; byte++) {
        let calls = 0
        const text = make((length) => new Uint8Array(length).fill(calls++ === place ? byte : 0))
        expect(text).toMatch(shape)
        const character = text[place] ?? ''
        if (calls === 2) counts.set(character, (counts.get(character) ?? 0) + 1)
      }
      expect(counts.size).toBe(size)
      expect([...new Set(counts.values())]).toEqual([Math.floor(256 / size)])
    }
  })
})

test('a UUID is of version 4 and its variant, whatever bytes it is made of', () => {
  const [all, none] = [0xff, 0].map((byte) => makeUuid((length) => new Uint8Array(length).fill(byte)))
  expect(all).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff' as typeof all)
  expect(none).toBe('00000000-0000-4000-8000-000000000000' as typeof none)
})

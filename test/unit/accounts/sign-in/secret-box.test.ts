import { describe, expect, test } from 'bun:test'
import { createSecretBox } from '../../../../src/accounts/sign-in/second-factor.ts'
import { systemRandom } from '../../../../src/domain/random.ts'

describe('what is encrypted', () => {
  test('is read with the same secret alone, and only as it was written', () => {
    const box = createSecretBox('a secret', systemRandom)
    const sealed = box.seal('Ünï text')
    expect(createSecretBox('a secret', systemRandom).open(sealed)).toBe('Ünï text')
    expect(box.seal('Ünï text')).not.toBe(sealed)
    expect(() => createSecretBox('another secret', systemRandom).open(sealed)).toThrow()
    for (const at of [0, 24, sealed.length / 2, sealed.length - 1]) {
      const index = Math.floor(at)
      const changed = sealed.slice(0, index) + (sealed[index] === '0' ? '1' : '0') + sealed.slice(index + 1)
      expect(() => box.open(changed)).toThrow()
    }
    expect(() => box.open('')).toThrow()
    expect(() => box.open(sealed.slice(0, -2))).toThrow()
  })
})

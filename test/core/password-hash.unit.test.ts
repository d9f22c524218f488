import { expect, test } from 'bun:test'
import { hashPassword, verifyPassword } from '../../src/core/password-hash.ts'

// Keyboards of different systems compose the same letter in different ways.
test('a password is the same in every normalization form of Unicode', async () => {
  const composed = 'Zürich liegt am See'.normalize('NFC')
  const decomposed = composed.normalize('NFD')
  expect(decomposed).not.toBe(composed)
  const [fromComposed, fromDecomposed] = await Promise.all([composed, decomposed].map(hashPassword))
  for (const hash of [fromComposed ?? '', fromDecomposed ?? '']) {
    expect(await verifyPassword(composed, hash)).toBe(true)
    expect(await verifyPassword(decomposed, hash)).toBe(true)
    expect(await verifyPassword('Zurich liegt am See', hash)).toBe(false)
  }
})

test('no password at all is never right', async () => {
  expect(await verifyPassword('', await hashPassword('Zürich liegt am See'))).toBe(false)
})

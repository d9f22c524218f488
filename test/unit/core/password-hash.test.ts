import { expect, test } from 'bun:test'
import { hashPassword, MOST_WAITING, verifyPassword } from '../../../src/core/password-hash.ts'
import { Refusal } from '../../../src/domain/errors.ts'

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

test('of a thousand at once those beyond the ceiling are refused at once, and the next one is taken again', async () => {
  const cheap = await Bun.password.hash('sesame', { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
  const settled: string[] = []
  const checks = Array.from({ length: 1000 }, () =>
    verifyPassword('sesame', cheap).then(
      () => settled.push('checked'),
      (error: unknown) => settled.push(error instanceof Refusal ? error.code : 'failed'),
    ),
  )
  await Promise.all(checks)
  expect(settled.filter((each) => each === 'checked')).toHaveLength(2 + MOST_WAITING)
  expect(settled.slice(0, 998 - MOST_WAITING)).toEqual(Array(998 - MOST_WAITING).fill('SERVER_BUSY'))
  expect(settled).toHaveLength(1000)
  expect(await verifyPassword('sesame', cheap)).toBe(true)
})

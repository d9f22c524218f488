import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseUsername } from '../../../src/domain/account.ts'
import { refusalOf } from './refusal.ts'

describe('parseUsername', () => {
  test.each([
    ['ada', 'ada'],
    ['Ada.Lovelace_1815-x', 'ada.lovelace_1815-x'],
    ['a'.repeat(32), 'a'.repeat(32)],
  ])('takes %p as %p', (value, username) => {
    expect(parseUsername(value)).toBe(username)
  })

  test.each([
    '',
    'ab',
    'a'.repeat(33),
    'a b',
    ' ada',
    'ada ',
    'ada\n',
    'a@da',
    'ädä',
    'a/da',
    'ada\u212a' /* the Kelvin sign, k in lower case */,
  ])('refuses %p', (value) => {
    expect(refusalOf(() => parseUsername(value)).code).toBe('INVALID_NAME')
  })

  test('says what is allowed', () => {
    expect(refusalOf(() => parseUsername('x')).message).toContain('3 to 32')
  })

  test('makes no difference between upper and lower case', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9._-]{3,32}$/), (value) => {
        expect(parseUsername(value.toUpperCase())).toBe(parseUsername(value.toLowerCase()))
        expect(parseUsername(value)).toMatch(/^[a-z0-9._-]{3,32}$/)
      }),
    )
  })
})

import { describe, expect, test } from 'bun:test'
import { parseDisplayName } from '../../../src/domain/account.ts'
import { Refusal } from '../../../src/domain/errors.ts'

describe('a display name', () => {
  test.each([
    ['  Ann Lee ', 'Ann Lee'],
    ['Cafe\u0301', 'Café'],
    ['Zoë Ångström-Łuczak', 'Zoë Ångström-Łuczak'],
    ['ann\u202Egpj.\u2066', 'anngpj.'],
    ['\u200Fدانة', 'دانة'],
    ['👩‍🚀'.repeat(21), '👩‍🚀'.repeat(21)],
    ['x'.repeat(64), 'x'.repeat(64)],
    [' \u200E ', null],
    ['', null],
  ])('%j is stored as %j', (given, stored) => {
    expect(parseDisplayName(given)).toBe(stored)
  })

  test.each([['x'.repeat(65)], ['a\nb'], ['a\u0000b'], ['\uD800'], ['\u200B'], ['e\u0301'.repeat(1000)]])(
    '%j is refused',
    (given) => {
      expect(() => parseDisplayName(given)).toThrow(Refusal)
    },
  )
})

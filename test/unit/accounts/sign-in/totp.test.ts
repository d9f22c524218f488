import { describe, expect, test } from 'bun:test'
import { base32Of, makeTotpSecret, totpStep } from '../../../../src/accounts/sign-in/second-factor.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { codesAt } from '../../../support/sign-in/codes.ts'

/** RFC 6238, appendix B, for SHA-1: the last six of its eight digits. */
const SECRET = '12345678901234567890'
const VECTORS = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
] as const

const HALF_MINUTE = 30_000

describe('a code of an app', () => {
  test.each(VECTORS)('at %i seconds is the one of RFC 6238', (seconds, code) => {
    expect(totpStep(SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30))
  })

  test('is taken one half minute early or late, and no more', () => {
    const at = 1_234_567_890_000
    const step = Math.floor(at / HALF_MINUTE)
    const taken = [-3, -2, -1, 0, 1, 2, 3].filter(
      (off) => totpStep(SECRET, '005924', at + off * HALF_MINUTE) === step,
    )
    expect(taken).toEqual([-1, 0, 1])
    const [first, last] = [step * HALF_MINUTE - HALF_MINUTE, (step + 2) * HALF_MINUTE - 1]
    expect([first - 1, first, last, last + 1].map((now) => totpStep(SECRET, '005924', now))).toEqual([
      null,
      step,
      step,
      null,
    ])
  })

  test('is six digits, and nothing else is one', () => {
    const at = 1_234_567_890_000
    for (const text of [
      '',
      '5924',
      '05924',
      '0005924',
      '00592',
      '005924 ',
      '００５９２４',
      'abcdef',
      '-05924',
    ]) {
      expect([text, totpStep(SECRET, text, at)]).toEqual([text, null])
    }
  })

  test('comes from the secret that apps are given', () => {
    const secret = makeTotpSecret(systemRandom)
    const at = 1_234_567_890_000
    expect(base32Of(SECRET)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
    expect(totpStep(secret, codesAt(() => at)(base32Of(secret)), at)).toBe(Math.floor(at / HALF_MINUTE))
    expect(makeTotpSecret(systemRandom)).not.toBe(secret)
    expect(secret).toMatch(/^[\w-]{32}$/)
  })
})

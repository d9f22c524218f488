import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { foldName, sortedByName, sortKey, sortKeyOfFolded } from '../../../src/domain/sort-key.ts'
import { runsOf } from '../../support/cases.ts'

const bytes = (text: string) => Buffer.from(text)
const byKey = (a: string, b: string) => Buffer.compare(bytes(sortKey(a)), bytes(sortKey(b)))

/** Digits of many scripts, each as its value, by what the language data of the runtime says of them. */
const DIGITS: ReadonlyMap<string, number> = new Map(
  Intl.supportedValuesOf('numberingSystem').flatMap((numberingSystem) =>
    Array.from({ length: 10 }, (_, value) => {
      const written = new Intl.NumberFormat('en', { numberingSystem }).format(value)
      return [written, value] as const
    }).filter(([written]) => /^\p{Nd}$/u.test(written)),
  ),
)

type Token = { readonly number: bigint } | { readonly point: number }

/** What a key stands for, put down without one: the points of a name, with a number where digits stand. */
function tokens(name: string): Token[] {
  const folded = foldName(name)
  const bare = [...folded.normalize('NFD')].filter((it) => !/[\u0300-\u036f]/.test(it)).join('')
  const plain = bare === '' ? folded : bare.normalize('NFC')
  const found: Token[] = []
  for (const [part = ''] of plain.matchAll(/\p{Nd}+|\P{Nd}/gu)) {
    const digits = [...part].map((it) => DIGITS.get(it))
    if (digits.includes(undefined)) found.push({ point: part.codePointAt(0) ?? 0 })
    else found.push({ number: BigInt(digits.join('')) })
  }
  return found
}

const ZERO = 0x30

/** Numbers by their value; a number and another character as the digit 0 and that character. */
function natural(a: string, b: string): number {
  const [one, other] = [tokens(a), tokens(b)]
  for (const [at, left] of one.entries()) {
    const right = other[at]
    if (right === undefined) return 1
    if ('number' in left && 'number' in right) {
      if (left.number !== right.number) return left.number < right.number ? -1 : 1
      continue
    }
    const difference = ('point' in left ? left.point : ZERO) - ('point' in right ? right.point : ZERO)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}

const character = fc.oneof(
  fc.constantFrom(
    ...'019aAbzZ éÉeÄäßẞσςΣiİıІйИ-_.()',
    '\u0301',
    '\u0308',
    'か',
    'が',
    '한',
    '\uffee',
    '😀',
    'कि',
  ),
  fc.constantFrom(...DIGITS.keys()),
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 1 })
    .filter((it) => !/\p{Nd}/u.test(it) || DIGITS.has(it)),
)
const name = fc.string({ unit: character, maxLength: 30 })
/** Numbers that share beginnings and lengths, which names of their own hardly do. */
const numbered = fc
  .tuple(
    fc.constantFrom('', 'a', 'é', 'E', 'b '),
    fc.stringMatching(/^0{0,3}[0-9]{0,30}$/),
    fc.constantFrom('', 'a', '.b'),
  )
  .map((parts) => parts.join(''))
const anyName = fc.oneof(name, numbered)

describe('the key that names are sorted by', () => {
  test.each([
    ['file 2', 'file 10'],
    ['file 2.txt', 'FILE 10.txt'],
    ['file 8', 'file 80'],
    ['1.9', '1.10'],
    ['a1b2', 'a1b10'],
    ['a', 'a1'],
    ['a 1', 'a 1 b'],
    ['2', 'a'],
    ['-2', '1'],
    ['99999999', '100000000'],
    ['999999999', '1000000000'],
    ['Ärger 9', 'ärger 10'],
    ['Äpfel', 'Zebra'],
    ['élan', 'Ezra'],
    ['ملف ٢', 'ملف ١٠'],
    ['फ़ाइल २', 'फ़ाइल १०'],
    ['文件 ２', '文件 １０'],
    ['файл 2', 'Файл 10'],
    ['\uffee', '😀'],
    ['', '\u0301'],
  ])('puts %p before %p', (before, after) => {
    expect(byKey(before, after)).toBeLessThan(0)
    expect(byKey(after, before)).toBeGreaterThan(0)
  })

  test.each([
    ['A', 'a'],
    ['Straße', 'STRASSE'],
    ['é', 'e'],
    ['file 1', 'file 001'],
    ['file 0', 'file 000'],
    ['file 12', 'file ١٢'],
    ['file 12', 'file １２'],
    ['ά', 'α'],
    ['й', 'и'],
  ])('is the same for %p and %p', (a, b) => {
    expect(sortKey(a)).toBe(sortKey(b))
  })

  test.each([
    ['कि', 'क'],
    ['が', 'か'],
    ['한', '하'],
    ['กิ', 'ก'],
  ])('keeps the marks of other scripts: %p is not %p', (a, b) => {
    expect(sortKey(a)).not.toBe(sortKey(b))
  })

  test('has the order of the names as told without keys', () => {
    fc.assert(
      fc.property(anyName, anyName, (a, b) => {
        expect(Math.sign(byKey(a, b))).toBe(Math.sign(natural(a, b)))
      }),
      { numRuns: runsOf(5000) },
    )
  })

  test('reads every digit of every script', () => {
    expect(DIGITS.size).toBeGreaterThan(500)
    for (const [digit, value] of DIGITS) {
      expect(`${digit} ${sortKey(digit)}`).toBe(`${digit} ${value === 0 ? '0' : `1${value}`}`)
    }
  })

  test('agrees with the collation of Unicode about letters, spaces and numbers', () => {
    const { compare } = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
    const plain = fc.string({ unit: fc.constantFrom(...'0123456789abcxyzABCéÄöñ '), maxLength: 12 })
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(Math.sign(byKey(a, b))).toBe(Math.sign(compare(a, b)))
      }),
      { numRuns: runsOf(2000) },
    )
  })

  test('is the same for a name in composed and in decomposed form, and for a folded one', () => {
    fc.assert(
      fc.property(anyName, (text) => {
        const key = sortKey(text)
        expect(sortKey(text.normalize('NFD'))).toBe(key)
        expect(sortKey(text.normalize('NFC'))).toBe(key)
        expect(sortKeyOfFolded(foldName(text))).toBe(key)
      }),
      { numRuns: runsOf(2000) },
    )
  })

  test('is at most twice as long as the folded name, holds no NUL, and is empty for the empty name alone', () => {
    fc.assert(
      fc.property(anyName, (text) => {
        const key = sortKey(text)
        expect(bytes(key).length).toBeLessThanOrEqual(2 * bytes(foldName(text)).length)
        expect(key.includes('\0')).toBe(text.includes('\0'))
        expect(key === '').toBe(text === '')
      }),
      { numRuns: runsOf(2000) },
    )
    expect(sortKey('1a'.repeat(127)).length).toBe(3 * 127)
  })
})

describe('sorted by name', () => {
  test('items have the order of their keys, and of their names where keys are one', () => {
    const items = ['b', 'file 10', 'é', 'file 02', 'E', 'file 2', 'e', '\uffee', '😀']
    expect(sortedByName(items, (it) => it)).toEqual([
      'b',
      'E',
      'e',
      'é',
      'file 02',
      'file 2',
      'file 10',
      '\uffee',
      '😀',
    ])
  })

  test('any names have one order, which is that of bytes', () => {
    fc.assert(
      fc.property(fc.array(anyName, { maxLength: 12 }), (names) => {
        const expected = names.toSorted((a, b) => byKey(a, b) || Buffer.compare(bytes(a), bytes(b)))
        expect(sortedByName(names, (it) => it)).toEqual(expected)
        expect(sortedByName(names.toReversed(), (it) => it)).toEqual(expected)
      }),
      { numRuns: runsOf(1000) },
    )
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatSize, parseSize } from '../../../src/domain/sizes.ts'

describe('parseSize', () => {
  test.each([
    ['0', 0],
    ['12345', 12345],
    ['7B', 7],
    ['1KB', 1024],
    ['500MB', 500 * 1024 ** 2],
    ['10GB', 10 * 1024 ** 3],
    ['10gb', 10 * 1024 ** 3],
    ['1.5GB', 1.5 * 1024 ** 3],
    ['2TB', 2 * 1024 ** 4],
    [' 1 GB ', 1024 ** 3],
    ['1.1KB', 1126],
  ])('reads %p as %p bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  test.each([
    '',
    ' ',
    'GB',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1.5',
    '1.5B',
    '.5GB',
    '1.GB',
    '1XB',
    '1K',
    '1GiB',
    '1 2',
    '99999TB',
  ])('takes %p for no size', (text) => {
    expect(parseSize(text)).toBeNull()
  })

  test('gives back every exact number of bytes', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => expect(parseSize(String(bytes))).toBe(bytes)))
  })

  test('gives whole bytes or nothing', () => {
    const text = fc.tuple(
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      fc.constantFrom('', 'B', 'kb', 'MB', 'GB', 'tb'),
    )
    fc.assert(
      fc.property(text, ([number, unit]) => {
        const bytes = parseSize(`${number}${unit}`)
        expect(bytes === null || Number.isSafeInteger(bytes)).toBe(true)
      }),
    )
  })
})

describe('formatSize', () => {
  test.each([
    [0, '0 B'],
    [1, '1 B'],
    [1023, '1023 B'],
    [1024, '1 KB'],
    [1536, '1.5 KB'],
    [999.9 * 1024, '999.9 KB'],
    [1008 * 1024, '1 MB'],
    [1014.8 * 1024, '1 MB'],
    [1000 * 1024 ** 2, '1000 MB'],
    [1024 ** 2 - 1, '1 MB'],
    [1024 ** 2, '1 MB'],
    [1.5 * 1024 ** 3, '1.5 GB'],
    [10 * 1024 ** 3, '10 GB'],
    [5000 * 1024 ** 4, '5000 TB'],
  ])('writes %p as %p', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text)
  })

  test('is never off by more than half of its last digit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1024 ** 5 }), (bytes) => {
        const text = formatSize(bytes)
        expect(text).toMatch(/^\d+(\.\d)? [KMGT]?B$/)
        const unit = parseSize(`1${text.split(' ')[1]}`) ?? 0
        expect(Math.abs((parseSize(text) ?? -1) - bytes)).toBeLessThanOrEqual(Math.ceil(0.05 * unit) + 1)
      }),
    )
  })
})

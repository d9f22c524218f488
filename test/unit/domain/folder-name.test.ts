import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Refusal } from '../../../src/domain/errors.ts'
import { isFolderCalled, numberedFolderName, parseFolderName } from '../../../src/domain/folder-name.ts'
import { runsOf } from '../../support/cases.ts'
import { refusalOf } from './refusal.ts'

describe('parseFolderName', () => {
  test.each([
    ['Holiday', 'Holiday'],
    ['  Holiday 2024  ', 'Holiday 2024'],
    ['\tHoliday\n', 'Holiday'],
    ['cafe\u0301', 'café'],
    ['...', '...'],
    ['\u202e gnp\u2066.\u2028exe\u202c', 'gnp.exe'],
    ['\u05d0\u200f!', '\u05d0\u200f!'],
    ['a'.repeat(100), 'a'.repeat(100)],
    ['💾'.repeat(100), '💾'.repeat(100)],
    [` ${'a'.repeat(100)} `, 'a'.repeat(100)],
    ['e\u0301'.repeat(100), 'é'.repeat(100)],
  ])('takes %p as %p', (value, name) => {
    expect(parseFolderName(value)).toBe(name)
  })

  test.each([
    '',
    '   ',
    '.',
    '..',
    ' .. ',
    '.\u202e.',
    '\u2069',
    'a/b',
    'a\\b',
    'a\0b',
    'a\nb',
    'a\x7fb',
    'a\x85b',
    'a\ud800b',
    'a'.repeat(101),
    '💾'.repeat(101),
  ])('refuses %p', (value) => {
    expect(refusalOf(() => parseFolderName(value)).code).toBe('INVALID_NAME')
  })

  test('says what is allowed', () => {
    expect(refusalOf(() => parseFolderName('a'.repeat(101))).message).toContain('100')
    expect(refusalOf(() => parseFolderName('a/b')).message).toContain('"/"')
    expect(refusalOf(() => parseFolderName('a\nb')).message).toContain('control characters')
    expect(refusalOf(() => parseFolderName('a\ud800b')).message).toContain('surrogate')
    expect(refusalOf(() => parseFolderName('')).message).toContain('empty')
  })

  test('gives a name that it takes again as it is, or refuses', () => {
    const unit = fc.oneof(
      fc.constantFrom(' ', '.', '/', '\\', '\t', '\u0301', 'e', '\u200e', '\ud800', '\u2028'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    )
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 120 }), (value) => {
        let name: string
        try {
          name = parseFolderName(value)
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
          return
        }
        expect(parseFolderName(name)).toBe(name)
        expect(name).not.toMatch(/[/\\\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u)
        expect([...name].length).toBeLessThanOrEqual(100)
      }),
      { numRuns: runsOf(500) },
    )
  })
})

test('a name with a number is shortened to what a folder may be called', () => {
  expect(numberedFolderName('Photos', 2)).toBe('Photos (2)')
  for (const name of ['a'.repeat(100), '😀'.repeat(100), `${'a'.repeat(95)} bcde`]) {
    const numbered = numberedFolderName(name, 12)
    expect(numbered).toEndWith(' (12)')
    expect(numbered).not.toEndWith('  (12)')
    expect([...numbered].length).toBeLessThanOrEqual(100)
    expect([...numbered].length).toBeGreaterThan(98)
  }
})

test.each([
  ['Photos', 'Photos', true],
  ['Photos', ' Photos ', true],
  ['café', 'cafe\u0301', true],
  ['gnp', 'g\u202enp', true],
  ['Photos', 'photos', false],
  ['straße', 'strasse', false],
  ['a', 'a/b', false],
])('a folder %p is the one that %p would make: %p', (name, asked, is) => {
  expect(isFolderCalled(name, asked)).toBe(is)
})

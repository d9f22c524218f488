import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cleanFileName, extensionOf } from '../../../src/domain/file-name.ts'
import { foldName } from '../../../src/domain/sort-key.ts'
import { runsOf } from '../../support/cases.ts'

/** Text with what breaks names in it: slashes, dots, controls, direction marks, combining and wide characters. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '/',
        '\\',
        '.',
        '..',
        '\0',
        '\n',
        '\x7f',
        '\x85',
        '\u202e',
        '\u2066',
        '\u200f',
        '\u061c',
      ),
      fc.constantFrom(
        'e',
        '\u0301',
        '\u0323',
        'Å',
        '가',
        '\u1100\u1161',
        '💾',
        '\ud800',
        '\udc00',
        ' ',
        '.tar.gz',
        'C:\\',
        '\u212a:\\',
        '\\\\',
        '-',
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

describe('cleanFileName', () => {
  test.each([
    ['film.mkv', 'film.mkv'],
    ['/etc/passwd', 'passwd'],
    ['../../x.txt', 'x.txt'],
    ['C:\\Users\\me\\x.txt', 'x.txt'],
    ['c:\\x.txt', 'x.txt'],
    ['C:\\Users/me\\x.txt', 'x.txt'],
    ['\\\\server\\share\\x.txt', 'x.txt'],
    ['folder/C:\\x.txt', 'x.txt'],
    ['a\\b/c.txt', 'c.txt'],
    ['a/b\\c.txt', 'b\\c.txt'],
    ['what\\ever.txt', 'what\\ever.txt'],
    ['a:\\', 'unnamed'],
    ['ab:\\c.txt', 'ab:\\c.txt'],
    ['C:x\\y.txt', 'C:x\\y.txt'],
    ['-', 'unnamed'],
    ['--', '--'],
    ['a\0b\r\n.txt', 'ab.txt'],
    ['photo\u202egpj.exe', 'photogpj.exe'],
    ['one\u2028two\u2029.txt', 'onetwo.txt'],
    ['\u2066a\u2069\u200e\u200f\u061cb', 'ab'],
    ['cafe\u0301.txt', 'café.txt'],
    ['e\u200e\u0301', 'é'],
    ['a\ud800b', 'a\ufffdb'],
    [' spaces within stay .txt ', 'spaces within stay .txt'],
    ['\u3000wide\u00a0', 'wide'],
    ['folder/ x.txt', 'x.txt'],
    ['.profile', '.profile'],
    ['...', '...'],
  ])('makes %p into %p', (raw, name) => {
    expect(cleanFileName(raw)).toBe(name)
  })

  test.each(['', '.', '..', '/', 'a/', 'a/..', 'a/ ', 'a/-', '\0', '.\0', '.\u202e.', '   ', '\u200e'])(
    'calls what is left of %p unnamed',
    (raw) => {
      expect(cleanFileName(raw)).toBe('unnamed')
    },
  )

  test('cuts a long name to exactly 255 bytes and keeps its extension', () => {
    expect(cleanFileName(`${'a'.repeat(300)}.txt`)).toBe(`${'a'.repeat(251)}.txt`)
    expect(cleanFileName(`${'a'.repeat(254)} b`)).toBe('a'.repeat(254))
    expect(cleanFileName('a'.repeat(255))).toBe('a'.repeat(255))
  })

  test('never cuts a character in half', () => {
    // 62 × 4 bytes and the extension are 252; a 63rd emoji would be 256.
    expect(cleanFileName(`${'💾'.repeat(100)}.txt`)).toBe(`${'💾'.repeat(62)}.txt`)
  })

  test('lets an extension go that would fill the name alone', () => {
    expect(cleanFileName(`a.${'b'.repeat(300)}`)).toBe(`a.${'b'.repeat(253)}`)
  })

  test('gives a clean name for anything, and leaves a clean name alone', () => {
    fc.assert(
      fc.property(hostileText, (raw) => {
        const name = cleanFileName(raw)
        expect(name).not.toMatch(/[/\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u)
        expect(name).not.toMatch(/^(?:[a-z]:\\|\\\\)/i)
        expect(['', '-', '.', '..']).not.toContain(name)
        expect(name.trim()).toBe(name)
        expect(name.isWellFormed()).toBe(true)
        expect(name.normalize('NFC')).toBe(name)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
        expect(cleanFileName(name)).toBe(name)
      }),
      { numRuns: runsOf(500) },
    )
  })

  test('keeps the extension of every long name', () => {
    const stem = fc.string({ unit: 'grapheme', minLength: 256, maxLength: 300 })
    fc.assert(
      fc.property(stem, fc.stringMatching(/^[a-zA-Z0-9]{1,20}$/), (letters, extension) => {
        const name = cleanFileName(`x${letters.replace(/[/\\]/g, '_')}.${extension}`)
        expect(name).toEndWith(`.${extension}`)
        expect(Buffer.byteLength(name)).toBeGreaterThan(230)
      }),
    )
  })
})

describe('extensionOf', () => {
  test.each([
    ['film.MKV', 'mkv'],
    ['a.tar.gz', 'gz'],
    ['Übung.ÄÖ', 'äö'],
    ['a..txt', 'txt'],
    ['README', ''],
    ['.profile', ''],
    ['name.', ''],
    ['Dr. No', ''],
    ['', ''],
  ])('of %p is %p', (name, extension) => {
    expect(extensionOf(name)).toBe(extension)
  })
})

describe('foldName', () => {
  test.each([
    ['README.txt', 'readme.TXT'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['ΟΔΟΣ', 'οδος'],
    ['ὈΔΥΣΣΕΎΣ', 'ὀδυσσεύς'],
    ['İstanbul', 'ISTANBUL'],
    ['ısı', 'ISI'],
    ['ДОКУМЕНТ', 'документ'],
    ['ÉTÉ', 'e\u0301te\u0301'],
    ['ﬁle', 'FILE'],
    ['Ꭰ', 'ꭰ'],
  ])('makes no difference between %p and %p', (a, b) => {
    expect(foldName(a)).toBe(foldName(b))
  })

  test.each([
    ['a', 'b'],
    ['e', 'é'],
    ['100%', '100_'],
  ])('keeps %p and %p apart', (a, b) => {
    expect(foldName(a)).not.toBe(foldName(b))
  })

  test('is the same for either case of every character there is, and folding again changes nothing', () => {
    const wrong: string[] = []
    for (let code = 0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const character = String.fromCodePoint(code)
      const folded = foldName(character)
      if (
        foldName(character.toUpperCase()) !== folded ||
        foldName(character.toLowerCase()) !== folded ||
        foldName(folded) !== folded
      ) {
        wrong.push(code.toString(16))
      }
    }
    expect(wrong).toEqual([])
  })

  test('is in NFC and idempotent for any text', () => {
    const cased = fc.constantFrom(
      'ß',
      'ẞ',
      'ς',
      'Σ',
      'İ',
      'ı',
      'I',
      'i',
      '\u0307',
      '\u0323',
      '\u0345',
      '\u0301',
      'ǰ',
      'ΐ',
    )
    const text = fc.string({
      unit: fc.oneof(cased, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
    })
    fc.assert(
      fc.property(text, (name) => {
        const folded = foldName(name)
        expect(foldName(folded)).toBe(folded)
        expect(folded.normalize('NFC')).toBe(folded)
        expect(foldName(name.normalize('NFD'))).toBe(folded)
      }),
      { numRuns: runsOf(1000) },
    )
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { foldName } from '../../../../src/domain/sort-key.ts'
import { zipNames } from '../../../../src/downloads/zip/archive-plan.ts'

function taken(...names: readonly string[]): string[] {
  const folder = zipNames()
  return names.map((name) => folder.take(name))
}

describe('the names of one folder in a zip', () => {
  test('are left as they are where they differ', () => {
    const names = [
      'a.txt',
      'b.txt',
      'Übersicht – 2026.pdf',
      '日本語.txt',
      '.profile',
      '...a',
      'a b',
      'console',
    ]
    expect(taken(...names)).toEqual(names)
  })

  test('get a number before the extension from the second on', () => {
    expect(taken('a.txt', 'a.txt', 'a.txt', 'README', 'README', '.profile', '.profile')).toEqual([
      'a.txt',
      'a (2).txt',
      'a (3).txt',
      'README',
      'README (2)',
      '.profile',
      '.profile (2)',
    ])
  })

  test('are numbered too where they differ in upper and lower case alone', () => {
    expect(taken('Photo.JPG', 'photo.jpg', 'ÄRGER', 'ärger')).toEqual([
      'Photo.JPG',
      'photo (2).jpg',
      'ÄRGER',
      'ärger (2)',
    ])
  })

  test('pass over a number that a name has by itself', () => {
    expect(taken('a (2).txt', 'a.txt', 'A.txt', 'a.txt')).toEqual([
      'a (2).txt',
      'a.txt',
      'A (3).txt',
      'a (4).txt',
    ])
    expect(taken('a.txt', 'a.txt', 'a (2).txt')).toEqual(['a.txt', 'a (2).txt', 'a (2) (2).txt'])
  })

  test('lead nowhere else on any system', () => {
    expect(taken('C:evil', 'a\\..\\b', '../up', '.', '..', 'stream.txt:hidden')).toEqual([
      'C_evil',
      'a_.._b',
      '.._up',
      '_',
      '_ (2)',
      'stream.txt_hidden',
    ])
  })

  test('can be created on Windows', () => {
    expect(taken('what?.txt', 'a*<b>|"c"', 'CON', 'nul.tar.gz', 'trailing. ', 'Com1')).toEqual([
      'what_.txt',
      'a__b___c_',
      'CON_',
      'nul_.tar.gz',
      'trailing_',
      'Com1_',
    ])
  })

  test('fit into 255 bytes with their number, and keep the extension', () => {
    const long = `${'ü'.repeat(125)}.txt`
    const [first, second] = taken(long, long)
    expect(first).toBe(long)
    expect(second).toEndWith(' (2).txt')
    expect(Buffer.byteLength(second ?? '')).toBeLessThanOrEqual(255)
    const [folder] = taken('😀'.repeat(100))
    expect(folder).toBe('😀'.repeat(63))
  })

  test('come quickly for very many of one name', () => {
    const folder = zipNames()
    const names = new Set(Array.from({ length: 20_000 }, () => folder.take('image.png')))
    expect(names.size).toBe(20_000)
  })

  test('never meet, whatever they are', () => {
    const name = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
      fc.constantFrom('a', 'A', 'a (2)', 'a.b', 'A.B', 'a (2).b', 'ß', 'SS', '\u212a', 'k'),
    )
    fc.assert(
      fc.property(fc.array(name, { maxLength: 30 }), (names) => {
        const result = taken(...names)
        expect(new Set(result.map(foldName)).size).toBe(names.length)
        for (const each of result) {
          expect(each).not.toMatch(/[/\\:]|^\.{0,2}$/)
          expect(Buffer.byteLength(each)).toBeLessThanOrEqual(255)
        }
      }),
    )
  })
})

/** Names of entries in ZIP files that do not say that they are UTF-8. */
import { describe, expect, test } from 'bun:test'
import { zipEntryName } from '../../../web/file/zip-names.ts'

const utf8 = (name: string) => new TextEncoder().encode(name)

describe('the name of an entry of a ZIP file', () => {
  test('with one wrong byte in UTF-8 has one wrong character', () => {
    const wrong = Uint8Array.of(...utf8('Größe '), 0xff, ...utf8(' für Ärzte.txt'))
    for (const isUtf8 of [true, false]) {
      expect(zipEntryName(wrong, isUtf8)).toBe('Größe \ufffd für Ärzte.txt')
    }
  })

  test('that is hardly UTF-8 is in code page 437, unless it says otherwise', () => {
    const old = Uint8Array.of(0x81, 0x62, 0x65, 0x72) // "über" in code page 437
    expect(zipEntryName(old, false)).toBe('über')
    expect(zipEntryName(old, true)).toBe('\ufffdber')
  })
})

import { describe, expect, test } from 'bun:test'
import { decodeText } from '../../web/file/decode.ts'

const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

describe('the text of some bytes', () => {
  test('is UTF-8 where they are valid as that, with or without its mark', () => {
    expect(decodeText(bytesOf('Grüße, 世界 🌍')).text).toBe('Grüße, 世界 🌍')
    expect(decodeText(bytesOf([0xef, 0xbb, 0xbf], 'Grüße')).text).toBe('Grüße')
  })

  test('is UTF-8 also when they end within a character', () => {
    const bytes = bytesOf('Zürich 世')
    for (const missing of [1, 2]) {
      expect(decodeText(bytes.subarray(0, bytes.length - missing)).text).toBe('Zürich ')
    }
  })

  test('is UTF-16 in the order that its mark tells', () => {
    const little = Buffer.from('\ufeffGrüße', 'utf16le')
    expect(decodeText(little).text).toBe('Grüße')
    expect(decodeText(Buffer.from(little).swap16()).text).toBe('Grüße')
  })

  test('is windows-1252 otherwise', () => {
    expect(decodeText(bytesOf('Gr', [0xfc, 0xdf], 'e ', [0x80])).text).toBe('Grüße €')
  })

  test('has one kind of line end', () => {
    expect(decodeText(bytesOf('a\r\nb\rc\nd')).text).toBe('a\nb\nc\nd')
  })

  test('is hardly one when it holds zero bytes', () => {
    expect(decodeText(bytesOf('abc')).isBinary).toBe(false)
    expect(decodeText(bytesOf('abc', [0], 'd')).isBinary).toBe(true)
  })
})

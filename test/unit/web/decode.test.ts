import { describe, expect, test } from 'bun:test'
import { decodeText } from '../../../web/file/decode.ts'

const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

describe('the text of some bytes', () => {
  test('is read in the charset that was found, also when it ends within a character', () => {
    const bytes = bytesOf('Zürich 世')
    expect(decodeText(bytes, 'utf-8').text).toBe('Zürich 世')
    for (const missing of [1, 2]) {
      expect(decodeText(bytes.subarray(0, bytes.length - missing), 'utf-8').text).toBe('Zürich ')
    }
    expect(decodeText(bytesOf([0xef, 0xbb, 0xbf], 'Grüße'), 'utf-8').text).toBe('Grüße')
    expect(decodeText(Buffer.from('\ufeffGrüße', 'utf16le'), 'utf-16le').text).toBe('Grüße')
    expect(decodeText(bytesOf([0xd4, 0xc5, 0xcb, 0xd3, 0xd4]), 'koi8-r').text).toBe('текст')
  })

  test('has one wrong character for one wrong byte', () => {
    expect(decodeText(bytesOf('Grüße ', [0xff], ' 世界'), 'utf-8').text).toBe('Grüße \ufffd 世界')
  })

  test('is windows-1252 where none was found', () => {
    expect(decodeText(bytesOf('Gr', [0xfc, 0xdf], 'e ', [0x80]), null).text).toBe('Grüße €')
  })

  test('has one kind of line end', () => {
    expect(decodeText(bytesOf('a\r\nb\rc\nd'), 'utf-8').text).toBe('a\nb\nc\nd')
  })

  test('is hardly one when it is full of zero bytes, and one where a crash has left a few', () => {
    expect(decodeText(bytesOf('abc'), 'utf-8').isBinary).toBe(false)
    expect(decodeText(bytesOf('abc', [0], 'd'), 'utf-8').isBinary).toBe(true)
    expect(decodeText(bytesOf('a line of a log\n'.repeat(100), [0, 0, 0]), 'utf-8').isBinary).toBe(false)
  })
})

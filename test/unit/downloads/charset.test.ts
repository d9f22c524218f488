import { describe, expect, test } from 'bun:test'
import { charsetOf } from '../../../src/downloads/charset.ts'
import { decodeText } from '../../../web/file/decode.ts'

const ASCII = Buffer.from('[INFO] 2026-11-28 12:00:00 a line that says nothing of its charset\n')

/** Charset, text, and its bytes. */
const TEXTS = [
  [
    'shift_jis',
    'これは日本語の文章です。設定ファイルを読み込みました。',
    '82b182ea82cd93fa967b8cea82cc95b68fcd82c582b7814290dd92e8837483408343838b82f093c782dd8d9e82dd82dc82b582bd8142',
  ],
  [
    'gb18030',
    '这是一个中文文本文件，包含一些常用的汉字。请检查设置。',
    'd5e2cac7d2bbb8f6d6d0cec4cec4b1becec4bcfea3acb0fcbaacd2bbd0a9b3a3d3c3b5c4babad7d6a1a3c7ebbcecb2e9c9e8d6c3a1a3',
  ],
  [
    'euc-kr',
    '이것은 한국어 텍스트 파일입니다. 설정을 확인하십시오.',
    'c0ccb0cdc0ba20c7d1b1b9beee20c5d8bdbac6ae20c6c4c0cfc0d4b4cfb4d92e20bcb3c1a4c0bb20c8aec0cec7cfbdcabdc3bfc02e',
  ],
  [
    'koi8-r',
    'Это русский текст, который был записан в старой кодировке.',
    'fcd4cf20d2d5d3d3cbc9ca20d4c5cbd3d42c20cbcfd4cfd2d9ca20c2d9cc20dac1d0c9d3c1ce20d720d3d4c1d2cfca20cbcfc4c9d2cfd7cbc52e',
  ],
] as const

describe('the charset of a text', () => {
  test('is what its byte order mark says', () => {
    expect(charsetOf(Buffer.from('\ufeffGrüße'))).toBe('utf-8')
    const little = Buffer.from('\ufeffGrüße', 'utf16le')
    expect(charsetOf(little)).toBe('utf-16le')
    expect(charsetOf(Buffer.from(little).swap16())).toBe('utf-16be')
  })

  test('is UTF-8 for ASCII and where most multi-byte sequences are valid, whatever else there is', () => {
    expect(charsetOf(ASCII)).toBe('utf-8')
    const text = Buffer.from('Grüße, 世界 🌍, schöne Übung\n'.repeat(20))
    expect(charsetOf(text)).toBe('utf-8')
    for (const wrong of [0x80, 0xc0, 0xe9, 0xff]) {
      for (let at = 0; at < text.length; at += 7) {
        expect(charsetOf(Buffer.concat([text.subarray(0, at), Buffer.of(wrong), text.subarray(at)]))).toBe(
          'utf-8',
        )
      }
    }
  })

  test('is the same where the sample is cut within a character', () => {
    const text = Buffer.from('ü🌍世')
    for (let length = 3; length < text.length; length++)
      expect(charsetOf(text.subarray(0, length))).toBe('utf-8')
    for (const [charset, , hex] of TEXTS) {
      const bytes = Buffer.from(hex, 'hex')
      for (const missing of [0, 1, 2]) {
        expect(charsetOf(bytes.subarray(0, bytes.length - missing))).toBe(charset)
      }
    }
  })

  test.each(TEXTS)(
    'is %s where statistics are sure of it, also within lines of ASCII and with a wrong byte',
    (charset, text, hex) => {
      const bytes = Buffer.from(hex, 'hex')
      expect(decodeText(bytes, charsetOf(bytes)).text).toBe(text)
      const log = Buffer.concat([...new Array<Buffer>(50).fill(ASCII), bytes])
      expect(charsetOf(log)).toBe(charset)
      const long = Buffer.concat(new Array<Buffer>(20).fill(Buffer.concat([bytes, Buffer.from('\n')])))
      expect(charsetOf(Buffer.concat([long, Buffer.of(0xff), long]))).toBe(charset)
    },
  )

  test('is not told of a few bytes of which nobody can be sure, nor of what is no text', () => {
    expect(charsetOf(Buffer.from('a3e0e4', 'hex'))).toBeNull()
    expect(charsetOf(Buffer.alloc(1000))).toBeNull()
    expect(charsetOf(new Uint8Array(0))).toBe('utf-8')
  })
})

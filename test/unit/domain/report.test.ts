import { describe, expect, test } from 'bun:test'
import { parseReportText } from '../../../src/domain/report.ts'
import { refusalOf } from './refusal.ts'

describe('parseReportText', () => {
  test.each([
    ['This is my photo.', 'This is my photo.'],
    ['  around  ', 'around'],
    ['two\r\nlines\rand\n\nanother', 'two\nlines\nand\n\nanother'],
    ['a\tb', 'a b'],
    ['\u001b[31mred\u001b[0m\u0000\u009b', '[31mred[0m'],
    ['txt.\u202eexe', 'txt.exe'],
    ['\ud800', '\ufffd'],
    ['<b>&amp;', '<b>&amp;'],
  ])('takes %p as %p', (raw, text) => {
    expect(parseReportText(raw)).toBe(text)
  })

  test.each([[null], [undefined], [''], [' \r\n\t\u0000 ']])('takes %p as nothing', (raw) => {
    expect(parseReportText(raw)).toBeNull()
  })

  test('takes 2,000 characters, as browsers count them, and no more', () => {
    expect(parseReportText(` ${'💾'.repeat(1000)}\r\n`)).toBe('💾'.repeat(1000))
    for (const raw of ['a'.repeat(2001), '💾'.repeat(1001)]) {
      expect(refusalOf(() => parseReportText(raw))).toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringContaining('2000'),
      })
    }
  })
})

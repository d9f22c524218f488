/** What separates the cells of a table. */
import { describe, expect, test } from 'bun:test'
import { decodeText } from '../../../web/file/decode.ts'
import { separated } from '../../../web/file/separated.ts'

describe('the cells of a table are separated', () => {
  test('by what its first line names, which is no row, whatever ends that line', () => {
    for (const line of ['sep=;\n', 'sep=;\r\n', 'SEP=;\n', '"sep=;"\n', '"sep=;"\r\n']) {
      const { text } = decodeText(new TextEncoder().encode(`${line}a;b\n`), 'utf-8')
      expect([line, separated(text, 'a.csv')]).toEqual([line, { text: 'a;b\n', delimiter: ';' }])
    }
    expect(separated('sep=\t\na\tb', 'a.csv')).toEqual({ text: 'a\tb', delimiter: '\t' })
    expect(separated('sep=,\na,b', 'a.tsv')).toEqual({ text: 'a,b', delimiter: ',' })
    expect(separated('sep=;', 'a.csv')).toEqual({ text: '', delimiter: ';' })
  })

  test('by what is found out, or by tabs in a TSV, where the first line names nothing', () => {
    for (const text of ['sep=;a\nb', 'a\nsep=;\n', 'sep=\na', 'sep=;;\na', '']) {
      expect(separated(text, 'a.csv')).toEqual({ text, delimiter: '' })
      expect(separated(text, 'A.TSV')).toEqual({ text, delimiter: '\t' })
    }
  })
})

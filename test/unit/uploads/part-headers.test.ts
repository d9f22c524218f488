import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/domain/errors.ts'
import { parseBoundary } from '../../../src/uploads/boundary.ts'
import { parsePartHeaders } from '../../../src/uploads/part-headers.ts'

const FILE = 'Content-Disposition: form-data; name="file"; filename="a.bin"'

describe('the headers of a part', () => {
  const read = (text: string | Buffer) =>
    parsePartHeaders(typeof text === 'string' ? Buffer.from(text) : text)
  const filename = (parameters: string | Buffer) =>
    read(
      Buffer.concat([Buffer.from('Content-Disposition: form-data; name="file"; '), Buffer.from(parameters)]),
    ).filename

  const names: [written: string, name: string | null][] = [
    ['filename="a b.txt"', 'a b.txt'],
    ['filename=plain.txt', 'plain.txt'],
    ['filename=not quoted.txt ; x=y', 'not quoted.txt'],
    ['FileName="a.txt"', 'a.txt'],
    ['filename = "a.txt"', 'a.txt'],
    ['filename="a;b=c.txt"; size=3', 'a;b=c.txt'],
    ['filename="a.txt";', 'a.txt'],
    ['filename=""', null],
    ["filename*=UTF-8''", null],
    ['filename="=?UTF-8?B?w6TDtsO8LnR4dA==?="', 'äöü.txt'],
    ['filename="=?utf-8?Q?na=C3=AFve_x.txt?="', 'naïve x.txt'],
    ['filename="=?UTF-8?B?w6TD?= =?UTF-8?B?tsO8LnR4dA==?="', 'äöü.txt'],
    ['filename="=?shift_jis?B?k/qWe4zqLnR4dA==?="', '日本語.txt'],
    ['filename="=?UTF-8?B?QTovQi9jLnR4dA==?="', 'A:/B/c.txt'],
    // Not wholly encoded words: a name like others.
    ['filename="a =?utf-8?Q?b?="', 'a =?utf-8?Q?b?='],
    ['filename="=?UTF-8?B?%%%?="', '=?UTF-8?B?%%%?='],
    ['filename="größe 文件 😀.txt"', 'größe 文件 😀.txt'],
    // As browsers write a quote, CR and LF, and nothing else.
    ['filename="a%22b%0D%0Ac%20d%41.txt"', 'a"b\r\nc%20d%41.txt'],
    // As curl writes them with --form-escape, and before version 7.81.
    ['filename="a\\"b\\\\c.txt"', 'a"b\\c.txt'],
    // A backslash is no escape where browsers and old ones write a path or a plain backslash.
    ['filename="C:\\dir\\new.txt"', 'C:\\dir\\new.txt'],
    ['filename="ends in a backslash\\"', 'ends in a backslash\\'],
    ['filename="ends in a backslash\\"; x="y"', 'ends in a backslash\\'],
    ['filename="plain"; filename*=UTF-8\'\'na%C3%AFve%20%e2%82%ac.txt', 'naïve €.txt'],
    ['filename*=utf-8\'en\'a.txt; filename="plain"', 'a.txt'],
    ["filename*=ISO-8859-1''na%EFve.txt", 'naïve.txt'],
    ['filename*="UTF-8\'\'quoted.txt"', 'quoted.txt'],
    // One that cannot be read leaves the plain name.
    ['filename="plain"; filename*=UTF-8\'\'%FF.txt', 'plain'],
    ['filename="plain"; filename*=KOI8-R\'\'%C1.txt', 'plain'],
    ['filename="plain"; filename*=UTF-8\'\'100%.txt', 'plain'],
    ['filename="plain"; filename*=a.txt', 'plain'],
  ]
  for (const [written, name] of names) {
    test(`with ${written} name the file ${JSON.stringify(name)}`, () => {
      expect(filename(written)).toBe(name)
    })
  }

  test('decode percent escapes in the file name of a sender that writes them', () => {
    const escaped = (parameters: string) =>
      parsePartHeaders(Buffer.from(`Content-Disposition: form-data; name="a%20b"; ${parameters}`), true)
    expect(escaped('filename="na%C3%AFve%20%22x%22.txt"')).toMatchObject({
      name: 'a%20b',
      filename: 'naïve "x".txt',
    })
    expect(escaped('filename="100%.txt"').filename).toBe('100%.txt')
    expect(escaped('filename="caf%E9.txt"').filename).toBe('café.txt')
    expect(escaped("filename*=UTF-8''100%2525.txt").filename).toBe('100%25.txt')
  })

  test('are Windows-1252 where they are not UTF-8, line by line', () => {
    expect(filename(Buffer.from('filename="na\xefve \x80.txt"', 'latin1'))).toBe('naïve €.txt')
    const mixed = Buffer.concat([
      Buffer.from('X-A: \xff\r\n', 'latin1'),
      Buffer.from(FILE.replace('a.bin', 'ï')),
    ])
    expect(read(mixed).filename).toBe('ï')
  })

  test('without a file name have none', () => {
    expect(read('Content-Disposition: form-data; name="file"').filename).toBeNull()
  })

  test('may be written in any case and order, and folded', () => {
    const text =
      'content-TYPE:Text/Plain\r\nCONTENT-disposition:  FORM-DATA;\r\n\tname=file;\r\n filename="a" '
    expect(read(text)).toEqual({ name: 'file', filename: 'a', contentType: 'text/plain' })
  })

  test('give the media type without its parameters, and none when it cannot be read', () => {
    const type = (value: string) => read(`${FILE}\r\nContent-Type: ${value}`).contentType
    expect(type('text/HTML; charset=utf-8')).toBe('text/html')
    expect(type('application/vnd.api+json ;a=b')).toBe('application/vnd.api+json')
    expect(type('nonsense')).toBeNull()
    expect(type('text/html<script>')).toBeNull()
    expect(type('')).toBeNull()
  })

  test('may say that the bytes are sent as they are', () => {
    expect(read(`${FILE}\r\nContent-Transfer-Encoding: Binary`).filename).toBe('a.bin')
  })

  test('that are long and hostile are read in linear time', () => {
    const long = 16_000
    for (const filler of [' ', '\\', '\\"', ';', 'a=', 'a="', '%22', "'", '\r\n ', ';a', ' ;', '"\\']) {
      const text = `${FILE}; x="${filler.repeat(long / filler.length)}`
      expect(() => read(text)).toThrow(Refusal)
    }
    expect(read(`${FILE}\r\nX: a${' '.repeat(long)}b`).name).toBe('file')
  })
})

describe('the boundary', () => {
  const boundaries: [contentType: string, boundary: string][] = [
    ['multipart/form-data; boundary=AaB03x', 'AaB03x'],
    ['multipart/form-data; boundary="AaB03x"', 'AaB03x'],
    ['Multipart/Form-Data;Boundary=AaB03x;charset=utf-8', 'AaB03x'],
    ['multipart/form-data; charset=utf-8; boundary="with space:=?/()"', 'with space:=?/()'],
    ['multipart/form-data; boundary=----=_Part_1_2.3', '----=_Part_1_2.3'],
    [
      'multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW',
      '----WebKitFormBoundary7MA4YWxkTrZu0gW',
    ],
    ['multipart/form-data; boundary=x', 'x'],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  ]
  for (const [contentType, boundary] of boundaries) {
    test(`of ${contentType} is ${boundary}`, () => {
      expect(parseBoundary(contentType)).toBe(boundary)
    })
  }

  const refused = [
    null,
    '',
    'application/json',
    'multipart/mixed; boundary=x',
    'multipart/form-data',
    'multipart/form-data; boundary',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="x',
    'multipart/form-data; boundary="x "',
    'multipart/form-data; boundary="a\rb"',
    'multipart/form-data; boundary=\xe4',
    'multipart/form-data; boundary=a; boundary=b',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ]
  for (const contentType of refused) {
    test(`of ${JSON.stringify(contentType)} is refused`, () => {
      expect(() => parseBoundary(contentType)).toThrow(Refusal)
    })
  }
})

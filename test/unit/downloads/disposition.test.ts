import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { contentDisposition } from '../../../src/downloads/send.ts'
import { runsOf } from '../../support/cases.ts'

describe('contentDisposition', () => {
  test.each([
    ['film.mkv', 'attachment; filename="film.mkv"'],
    ['two words; and=more.txt', 'attachment; filename="two words; and=more.txt"'],
    ['Übersicht.pdf', `attachment; filename="Ubersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`],
    [
      'Отчёт за май – №7.txt',
      `attachment; filename="Otchet za may - No7.txt"; filename*=UTF-8''%D0%9E%D1%82%D1%87%D1%91%D1%82%20%D0%B7%D0%B0%20%D0%BC%D0%B0%D0%B9%20%E2%80%93%20%E2%84%967.txt`,
    ],
    ['Straße.Øre', `attachment; filename="Strasse.Ore"; filename*=UTF-8''Stra%C3%9Fe.%C3%98re`],
    ['Щит ΨΩ', `attachment; filename="Shchit PsO"; filename*=UTF-8''%D0%A9%D0%B8%D1%82%20%CE%A8%CE%A9`],
    ['..', `attachment; filename="_"; filename*=UTF-8''..`],
    ['1／2.txt', `attachment; filename="1_2.txt"; filename*=UTF-8''1%EF%BC%8F2.txt`],
    ['文件.txt', `attachment; filename="WenJian.txt"; filename*=UTF-8''%E6%96%87%E4%BB%B6.txt`],
    ['💾.txt', `attachment; filename="_floppy_disk_.txt"; filename*=UTF-8''%F0%9F%92%BE.txt`],
    ['a"b\\c.txt', `attachment; filename="a_b_c.txt"; filename*=UTF-8''a%22b%5Cc.txt`],
    ['50%20.txt', `attachment; filename="50%20.txt"; filename*=UTF-8''50%2520.txt`],
    ["é'()*.txt", `attachment; filename="e'()*.txt"; filename*=UTF-8''%C3%A9%27%28%29%2A.txt`],
    [
      'a\r\nSet-Cookie: x',
      `attachment; filename="a__Set-Cookie: x"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x`,
    ],
    ['\ud800', `attachment; filename="_"; filename*=UTF-8''%EF%BF%BD`],
  ])('names %p', (name, header) => {
    expect(contentDisposition('attachment', name)).toBe(header)
  })

  test('keeps what curl saves under short enough for a file system, with its extension', () => {
    const [, ascii = ''] =
      /filename="(.*?)"/.exec(contentDisposition('attachment', `${'長'.repeat(60)}.txt`)) ?? []
    expect(ascii).toHaveLength(255)
    expect(ascii).toMatch(/^ZhangZhang.*\.txt$/)
  })

  test('says inline where that is meant', () => {
    expect(contentDisposition('inline', 'a.png')).toBe('inline; filename="a.png"')
  })

  test('is one well-formed header that carries the name exactly, for any name', () => {
    const form =
      /^attachment; filename="([\x20\x21\x23-\x5B\x5D-\x7E]*)"(?:; filename\*=UTF-8''((?:[\w!#$&+.^`|~-]|%[\dA-F]{2})*))?$/
    const name = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
    fc.assert(
      fc.property(name, (text) => {
        const header = contentDisposition('attachment', text)
        expect(header).toMatch(form)
        expect(new Headers({ 'Content-Disposition': header }).get('Content-Disposition')).toBe(header)
        const [, ascii, encoded] = form.exec(header) ?? []
        expect(encoded === undefined ? ascii : decodeURIComponent(encoded)).toBe(text.toWellFormed())
      }),
      { numRuns: runsOf(500) },
    )
  })
})

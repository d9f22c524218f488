import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseRange } from '../../../../src/server/answers/part-to-send.ts'
import { runsOf } from '../../../support/cases.ts'

const whole = { kind: 'whole' } as const
const unsatisfiable = { kind: 'unsatisfiable' } as const
const part = (start: number, end: number) => ({ kind: 'part', start, end }) as const

describe('parseRange', () => {
  test.each([
    ['bytes=0-0', part(0, 1)],
    ['bytes=0-9', part(0, 10)],
    ['bytes=0-', part(0, 100)],
    ['bytes=99-', part(99, 100)],
    ['bytes=50-1000', part(50, 100)],
    ['bytes=0-99999999999999999999999999', part(0, 100)],
    ['Bytes=1-2', part(1, 3)],
    ['bytes=007-008', part(7, 9)],
    ['bytes=0-4,', part(0, 5)],
    ['bytes=, ,0-4', part(0, 5)],
    ['bytes =0-4', part(0, 5)],
    ['bytes= 0-4', part(0, 5)],
    ['bytes=0 - 4', part(0, 5)],
    ['bytes=-1', part(99, 100)],
    ['bytes=-100', part(0, 100)],
    ['bytes=-101', part(0, 100)],
  ])('takes a part of 100 bytes for %p', (header, range) => {
    expect(parseRange(header, 100)).toEqual(range)
  })

  test.each(['bytes=100-', 'bytes=100-200', 'bytes=99999999999999999999999999-', 'bytes=-0', 'bytes=-000'])(
    'cannot satisfy %p of 100 bytes',
    (header) => {
      expect(parseRange(header, 100)).toEqual(unsatisfiable)
    },
  )

  test.each([
    null,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=,',
    'bytes=5-4',
    'bytes=a-b',
    'bytes=1',
    'bytes=1-2-3',
    'bytes=--1',
    'bytes=+1-2',
    'bytes=0x1-2',
    'bytes=1.5-2',
    'bytes:0-4',
    'items=0-4',
    '0-4',
    'bytes=0-4\nbytes=5-6',
  ])('ignores %p', (header) => {
    expect(parseRange(header, 100)).toEqual(whole)
  })

  test.each(['bytes=0-4,6-9', 'bytes=0-0, -1', 'bytes=0-4,a-b', 'bytes=200-300,400-'])(
    'answers several ranges whole: %p',
    (header) => {
      expect(parseRange(header, 100)).toEqual(whole)
    },
  )

  test('of an empty file has no part, and its suffix is the whole of it', () => {
    expect(parseRange('bytes=0-', 0)).toEqual(unsatisfiable)
    expect(parseRange('bytes=0-0', 0)).toEqual(unsatisfiable)
    expect(parseRange('bytes=-0', 0)).toEqual(unsatisfiable)
    expect(parseRange('bytes=-5', 0)).toEqual(whole)
    expect(parseRange(null, 0)).toEqual(whole)
  })

  test('cuts what a plain slice would cut', () => {
    const content = Uint8Array.from({ length: 50 }, (_, index) => index)
    const position = fc.integer({ min: 0, max: 60 })
    fc.assert(
      fc.property(position, fc.option(position), (first, last) => {
        const range = parseRange(`bytes=${first}-${last ?? ''}`, content.length)
        const expected = content.slice(first, last === null ? undefined : last + 1)
        if (first >= content.length) expect(range).toEqual(unsatisfiable)
        else if (last !== null && last < first) expect(range).toEqual(whole)
        else if (range.kind === 'part') expect(content.slice(range.start, range.end)).toEqual(expected)
        else throw new Error(`no part for ${first}-${last}`)
      }),
    )
  })

  test('gives a part that is not empty and lies inside, for any header', () => {
    const token = fc.constantFrom('bytes', '=', '-', ',', ' ', '0', '5', '99', '12345678901234567890', 'x')
    const header = fc.array(token, { maxLength: 8 }).map((tokens) => tokens.join(''))
    fc.assert(
      fc.property(
        fc.oneof(
          header,
          header.map((text) => `bytes=${text}`),
        ),
        fc.nat({ max: 100 }),
        (text, size) => {
          const range = parseRange(text, size)
          if (range.kind !== 'part') return
          expect(range.start).toBeGreaterThanOrEqual(0)
          expect(range.end).toBeGreaterThan(range.start)
          expect(range.end).toBeLessThanOrEqual(size)
        },
      ),
      { numRuns: runsOf(1000) },
    )
  })
})

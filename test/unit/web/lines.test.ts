import { expect, test } from 'bun:test'
import { formatLines, parseLines } from '../../../web/file/line-range.ts'

test('an address names a line, or lines in either order, as far as the text has them', () => {
  expect(parseLines('#L7', 10)).toEqual({ first: 7, last: 7 })
  expect(parseLines('#L3-L5', 10)).toEqual({ first: 3, last: 5 })
  expect(parseLines('#L5-3', 10)).toEqual({ first: 3, last: 5 })
  expect(parseLines('#L9-L40', 10)).toEqual({ first: 9, last: 10 })
  for (const hash of ['', '#L', '#L0', '#L11', '#L1x', '#l1', '#L1-L2-L3', '#L99999999'])
    expect(parseLines(hash, 10)).toBeNull()
})

test('a range is written as it is read', () => {
  for (const range of [
    { first: 2, last: 2 },
    { first: 2, last: 9 },
  ])
    expect(parseLines(formatLines(range), 10)).toEqual(range)
})

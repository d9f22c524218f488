import { expect, test } from 'bun:test'
import { compareCells, isNumber } from '../../../web/file/table-cells.ts'

test('what is a number in a table', () => {
  expect(
    ['1', '-0.5', '+12', '1 234,5', "1'000", '12 %', '20261129', '−3'].filter((text) => !isNumber(text)),
  ).toEqual([])
  expect(['', '-', '1a', '2026-11-29', '1.2.3', '12 km', '1 23'].filter(isNumber)).toEqual([])
})

test('numbers go by value before texts, texts by the language, and empty cells are last in both directions', () => {
  const cells = ['b 10', '', '1 000', 'ä', '-2', 'b 9', '3,5', ' ']
  const sorted = (turn: 1 | -1) => {
    const compare = compareCells('de', 0)
    return cells
      .map((cell) => [cell])
      .toSorted((a, b) => compare(a, b, turn))
      .flat()
  }
  expect(sorted(1)).toEqual(['-2', '3,5', '1 000', 'ä', 'b 9', 'b 10', '', ' '])
  expect(sorted(-1)).toEqual(['b 10', 'b 9', 'ä', '1 000', '3,5', '-2', '', ' '])
})

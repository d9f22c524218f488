import { expect, test } from 'bun:test'
import { topOf } from '../../../web/shared/charts/chart-scale.ts'

const KB = 1024

test.each([
  [[], 'count', 2],
  [[0, 0], 'count', 2],
  [[1, 3], 'count', 4],
  [[10], 'count', 10],
  [[11], 'count', 20],
  [[95], 'count', 100],
  [[101, 230], 'count', 300],
  [[1001], 'count', 2000],
  [[0], 'bytes', 2],
  [[820], 'bytes', 900],
  [[1001], 'bytes', 2 * KB],
  [[3 * KB, 9 * KB], 'bytes', 10 * KB],
  [[3.2 * KB ** 3], 'bytes', 4 * KB ** 3],
] as const)('an axis for %j, which are %s, ends at %i', (values, measure, top) => {
  expect(topOf(values, measure)).toBe(top)
})

import { expect, test } from 'bun:test'
import { DAY, HOUR, timestamp } from '../../../src/domain/clock.ts'

test('a timestamp is what Date writes, from day to day and back', () => {
  const edges = [
    0,
    1,
    999,
    1000,
    59_999,
    HOUR - 1,
    HOUR,
    DAY - 1,
    DAY,
    Date.UTC(2024, 1, 29, 23, 59, 59, 999),
  ]
  const strides = Array.from(
    { length: 3000 },
    (_, at) => Math.floor(at * 84_213_977_123.7) % Date.UTC(10_000, 0),
  )
  for (const moment of [...edges, ...strides, ...edges.toReversed()]) {
    expect(timestamp(moment)).toBe(new Date(moment).toISOString())
  }
})

test('a timestamp outside of the usual years is what Date writes', () => {
  for (const moment of [
    -1,
    -62_198_755_200_000,
    Date.UTC(9999, 11, 31),
    Date.UTC(10_000, 0),
    8.64e15,
    1.5,
    -0.5,
  ]) {
    expect(timestamp(moment)).toBe(new Date(moment).toISOString())
  }
  expect(() => timestamp(Number.NaN)).toThrow(RangeError)
})

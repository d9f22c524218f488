import { describe, expect, test } from 'bun:test'
import { endLength, endRecords, localHeader } from '../../../../src/downloads/zip/zip-records.ts'

const PATH = new TextEncoder().encode('a.txt')

/** Date and time of DOS as APPNOTE 4.4.6 has them, from the header of a file that was changed then. */
function dosTime(modified: string): { readonly date: number; readonly time: number } {
  const header = localHeader({
    path: PATH,
    isFolder: false,
    size: 1,
    crc32: 0,
    modifiedAt: Date.parse(modified),
  })
  const view = new DataView(header.buffer)
  return { time: view.getUint16(10, true), date: view.getUint16(12, true) }
}

describe('the time of DOS', () => {
  test.each([
    ['1979-12-31T23:59:59Z', { date: (1 << 5) | 1, time: 0 }],
    ['1980-01-01T00:00:00Z', { date: (1 << 5) | 1, time: 0 }],
    ['1980-02-03T04:05:06Z', { date: (2 << 5) | 3, time: (4 << 11) | (5 << 5) | 3 }],
    ['2026-11-23T16:55:59Z', { date: (46 << 9) | (11 << 5) | 23, time: (16 << 11) | (55 << 5) | 29 }],
    ['2107-12-31T23:59:58Z', { date: (127 << 9) | (12 << 5) | 31, time: (23 << 11) | (59 << 5) | 29 }],
    ['2108-01-01T00:00:00Z', { date: (127 << 9) | (12 << 5) | 31, time: (23 << 11) | (59 << 5) | 29 }],
  ])('%s', (modified, written) => {
    expect(dosTime(modified)).toEqual(written)
  })
})

describe('an archive has the ZIP64 end', () => {
  const small = { entries: 65_534, start: 0xfffffffe, length: 0xfffffffe }

  test('only when a value does not fit into its old field', () => {
    expect(endLength(small)).toBe(22)
    expect(endRecords(small)).toHaveLength(22)
  })

  test.each([
    ['entries', { ...small, entries: 65_535 }],
    ['start', { ...small, start: 0xffffffff }],
    ['length', { ...small, length: 0xffffffff }],
  ])('when the %s have the value that stands for "elsewhere"', (_, directory) => {
    expect(endLength(directory)).toBe(22 + 56 + 20)
    const records = endRecords(directory)
    expect(records).toHaveLength(22 + 56 + 20)
    const view = new DataView(records.buffer)
    expect(Number(view.getBigUint64(32, true))).toBe(directory.entries)
    expect(Number(view.getBigUint64(40, true))).toBe(directory.length)
    expect(Number(view.getBigUint64(48, true))).toBe(directory.start)
  })
})

import type { ZipEntries } from './zip-entries.ts'
import {
  directoryRecord,
  directoryRecordLength,
  endLength,
  endRecords,
  localHeader,
  localHeaderLength,
} from './zip-records.ts'

/** `end` is exclusive. */
export type ZipSegment =
  | { readonly kind: 'record'; readonly bytes: Uint8Array; readonly begins: number | null }
  | { readonly kind: 'content'; readonly entry: number; readonly start: number; readonly end: number }

/** Known from names and sizes alone. */
export interface ZipLayout {
  /** Bytes. */
  readonly size: number
  /** In order. `begins`: the entry whose first byte begins the record. */
  segments(start: number, end: number): Generator<ZipSegment>
}

/** Do not change the entries afterwards. */
export function zipLayout(entries: ZipEntries): ZipLayout {
  const { count } = entries
  const headerLength = (entry: number) => localHeaderLength(entries.pathLength(entry), entries.size(entry))

  /** Of each header, then of the central directory. */
  const offsets = new Float64Array(count + 1)
  for (let entry = 0; entry < count; entry++) {
    offsets[entry + 1] = (offsets[entry] ?? 0) + headerLength(entry) + entries.size(entry)
  }
  /** Of each directory record, then of the end records. */
  const records = new Float64Array(count + 1)
  records[0] = offsets[count] ?? 0
  for (let entry = 0; entry < count; entry++) {
    const length = directoryRecordLength(entries.pathLength(entry), entries.size(entry), offsets[entry] ?? 0)
    records[entry + 1] = (records[entry] ?? 0) + length
  }
  const offset = (entry: number) => offsets[entry] ?? 0
  const record = (entry: number) => records[entry] ?? 0
  const directory = { entries: count, start: record(0), length: record(count) - record(0) }
  const endStart = record(count)
  const size = endStart + endLength(directory)

  function* contents(start: number, end: number): Generator<ZipSegment> {
    for (let entry = holding(offsets, start); entry < count && offset(entry) < end; entry++) {
      const contentStart = offset(entry) + headerLength(entry)
      if (start < contentStart) {
        const bytes = cut(localHeader(entries.at(entry)), offset(entry), start, end)
        yield { kind: 'record', bytes, begins: start <= offset(entry) ? entry : null }
      }
      const from = Math.max(start, contentStart)
      const to = Math.min(end, offset(entry + 1))
      if (from < to) yield { kind: 'content', entry, start: from - contentStart, end: to - contentStart }
    }
  }

  function* directoryRecords(start: number, end: number): Generator<ZipSegment> {
    for (let entry = holding(records, start); entry < count && record(entry) < end; entry++) {
      const bytes = cut(directoryRecord(entries.at(entry), offset(entry)), record(entry), start, end)
      yield { kind: 'record', bytes, begins: null }
    }
  }

  return {
    size,
    *segments(start, end) {
      if (start < directory.start) yield* contents(start, end)
      if (start < endStart && end > directory.start) {
        yield* directoryRecords(Math.max(start, directory.start), end)
      }
      if (end > endStart) {
        yield { kind: 'record', bytes: cut(endRecords(directory), endStart, start, end), begins: null }
      }
    },
  }
}

function cut(bytes: Uint8Array, at: number, start: number, end: number): Uint8Array {
  if (start <= at && at + bytes.length <= end) return bytes
  return bytes.subarray(Math.max(0, start - at), Math.min(bytes.length, end - at))
}

/** Returns at least the first. */
function holding(positions: Float64Array, position: number): number {
  let low = 0
  let high = positions.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((positions[middle] ?? 0) <= position) low = middle
    else high = middle - 1
  }
  return low
}

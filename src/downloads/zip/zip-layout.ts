import type { ZipEntries } from './zip-entries.ts'
import {
  directoryRecord,
  directoryRecordLength,
  endLength,
  endRecords,
  localHeader,
  localHeaderLength,
} from './zip-records.ts'

/** A piece of an archive: bytes that are its own, or bytes `start` to `end` (exclusive) of an entry's content. */
export type ZipSegment =
  | { readonly kind: 'record'; readonly bytes: Uint8Array; readonly begins: number | null }
  | { readonly kind: 'content'; readonly entry: number; readonly start: number; readonly end: number }

/** Where everything in an archive lies, known from names and sizes alone. */
export interface ZipLayout {
  /** Bytes of the whole archive. */
  readonly size: number
  /**
   * The bytes `start` to `end` (exclusive), in order. A record with `begins` is the beginning of that entry, from its
   * first byte on.
   */
  segments(start: number, end: number): Generator<ZipSegment>
}

/** The entries must not change afterwards. */
export function zipLayout(entries: ZipEntries): ZipLayout {
  const { count } = entries
  const headerLength = (entry: number) => localHeaderLength(entries.pathLength(entry), entries.size(entry))

  /** Where each entry's header begins, and after the last the directory. */
  const offsets = new Float64Array(count + 1)
  for (let entry = 0; entry < count; entry++) {
    offsets[entry + 1] = (offsets[entry] ?? 0) + headerLength(entry) + entries.size(entry)
  }
  /** Where each entry's record of the directory begins, and after the last the end records. */
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

/** What of the bytes that stand at `at` lies between `start` and `end`. */
function cut(bytes: Uint8Array, at: number, start: number, end: number): Uint8Array {
  if (start <= at && at + bytes.length <= end) return bytes
  return bytes.subarray(Math.max(0, start - at), Math.min(bytes.length, end - at))
}

/** The last of the growing positions that is not behind `position`; the first where there is none. */
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

import { byteList, numberList } from '../../domain/packed-lists.ts'
import {
  directoryRecord,
  directoryRecordLength,
  endLength,
  endRecords,
  localHeader,
  localHeaderLength,
  type ZipEntry,
} from './zip-records.ts'

export const ZIP_TOP = -1

export interface NewZipEntry {
  /** A folder added before, or ZIP_TOP. */
  readonly folder: number
  readonly name: string
  readonly isFolder: boolean
  readonly size: number
  readonly crc32: number
  readonly modifiedAt: number
}

/** Numbered from 0, with some 40 bytes and the name for each. */
export interface ZipEntries {
  readonly count: number
  add(entry: NewZipEntry): number
  /** Bytes. */
  pathLength(entry: number): number
  size(entry: number): number
  at(entry: number): ZipEntry
  /** Covers all but the contents' checksums. */
  identity(): Iterable<Uint8Array>
  /** Do not use the entries any more. */
  free(): void
}

const NOTHING = new Uint8Array(0)

export function zipEntries(): ZipEntries {
  const names = byteList()
  const nameStarts = numberList('f64')
  const pathLengths = numberList('u32')
  const folders = numberList('i32')
  const kinds = numberList('u8')
  const sizes = numberList('f64')
  const sums = numberList('u32')
  const times = numberList('f64')
  /** Most entries lie in the folder of the one before. */
  let last = { folder: ZIP_TOP, path: NOTHING }

  function pathOf(entry: number): Uint8Array {
    const folder = folderPath(folders.at(entry))
    const path = new Uint8Array(pathLengths.at(entry))
    path.set(folder)
    names.copy(nameStarts.at(entry), path.length - folder.length, path, folder.length)
    return path
  }

  function folderPath(folder: number): Uint8Array {
    if (folder === ZIP_TOP) return NOTHING
    if (last.folder !== folder) last = { folder, path: new Uint8Array(pathOf(folder)) }
    return last.path
  }

  return {
    get count() {
      return sizes.length
    },

    add({ folder, name, isFolder, size, crc32, modifiedAt }) {
      const component = isFolder ? `${name}/` : name
      nameStarts.push(names.push(component, 'utf8'))
      pathLengths.push((folder === ZIP_TOP ? 0 : pathLengths.at(folder)) + Buffer.byteLength(component))
      folders.push(folder)
      kinds.push(isFolder ? 1 : 0)
      sizes.push(size)
      sums.push(crc32)
      times.push(modifiedAt)
      return sizes.length - 1
    },

    *identity() {
      for (const list of [names, nameStarts, pathLengths, folders, kinds, sizes, times]) yield* list.blocks()
    },

    free() {
      for (const list of [names, nameStarts, pathLengths, folders, kinds, sizes, sums, times]) list.free()
    },

    pathLength: (entry) => pathLengths.at(entry),
    size: (entry) => sizes.at(entry),

    at: (entry) => ({
      path: pathOf(entry),
      isFolder: kinds.at(entry) === 1,
      size: sizes.at(entry),
      crc32: sums.at(entry),
      modifiedAt: times.at(entry),
    }),
  }
}

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

import { byteList, numberList } from '../../domain/packed-lists.ts'

/**
 * APPNOTE 6.3.10, and Info-ZIP's notes on extra fields. Contents are uncompressed and known beforehand, so no data
 * descriptors follow. ZIP64 fields only for values that exceed the old ones.
 */

export interface ZipEntry {
  /** UTF-8, with slashes between; a folder's ends with one. */
  readonly path: Uint8Array
  readonly isFolder: boolean
  /** Bytes. */
  readonly size: number
  readonly crc32: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
}

/** Largest path length, and the marker of a value in a ZIP64 field. */
export const MAX_16 = 0xffff
const MAX_32 = 0xffffffff

const UTF8_NAMES = 1 << 11
const STORED = 0
/** Versions needed to extract: folders, ZIP64. */
const VERSION_FOLDERS = 20
const VERSION_ZIP64 = 45
/** The upper byte is the system whose file attributes follow: 3 is Unix. */
const MADE_BY_UNIX = (3 << 8) | VERSION_ZIP64
const FILE_ATTRIBUTES = 0o100644 * 65536
/** The lower bits are those of DOS: 16 is a directory. */
const FOLDER_ATTRIBUTES = 0o040755 * 65536 + 16

const LOCAL_HEADER = 30
const DIRECTORY_RECORD = 46
const TIME_EXTRA = 9
const ZIP64_END = 56
const ZIP64_LOCATOR = 20
const END = 22

export function localHeaderLength(pathLength: number, size: number): number {
  return LOCAL_HEADER + pathLength + TIME_EXTRA + (size >= MAX_32 ? 20 : 0)
}

export function localHeader(entry: ZipEntry): Uint8Array {
  const isLarge = entry.size >= MAX_32
  const record = writer(localHeaderLength(entry.path.length, entry.size))
  record.u32(0x04034b50)
  record.u16(isLarge ? VERSION_ZIP64 : VERSION_FOLDERS)
  shared(record, entry, isLarge ? 20 + TIME_EXTRA : TIME_EXTRA)
  record.bytes(entry.path)
  if (isLarge) {
    record.u16(0x0001)
    record.u16(16)
    record.u64(entry.size)
    record.u64(entry.size)
  }
  timeExtra(record, entry)
  return record.done()
}

export function directoryRecordLength(pathLength: number, size: number, offset: number): number {
  return DIRECTORY_RECORD + pathLength + TIME_EXTRA + zip64ExtraLength(size, offset)
}

function zip64ExtraLength(size: number, offset: number): number {
  const values = (size >= MAX_32 ? 16 : 0) + (offset >= MAX_32 ? 8 : 0)
  return values === 0 ? 0 : 4 + values
}

/** `offset`: of the local header. */
export function directoryRecord(entry: ZipEntry, offset: number): Uint8Array {
  const zip64 = zip64ExtraLength(entry.size, offset)
  const record = writer(directoryRecordLength(entry.path.length, entry.size, offset))
  record.u32(0x02014b50)
  record.u16(MADE_BY_UNIX)
  record.u16(zip64 > 0 ? VERSION_ZIP64 : VERSION_FOLDERS)
  shared(record, entry, zip64 + TIME_EXTRA)
  record.u16(0) // no comment
  record.u16(0) // first disk
  record.u16(0) // internal attributes
  record.u32(entry.isFolder ? FOLDER_ATTRIBUTES : FILE_ATTRIBUTES)
  record.u32(Math.min(offset, MAX_32))
  record.bytes(entry.path)
  if (zip64 > 0) {
    record.u16(0x0001)
    record.u16(zip64 - 4)
    if (entry.size >= MAX_32) {
      record.u64(entry.size)
      record.u64(entry.size)
    }
    if (offset >= MAX_32) record.u64(offset)
  }
  timeExtra(record, entry)
  return record.done()
}

export interface ZipDirectory {
  readonly entries: number
  readonly start: number
  readonly length: number
}

function needsZip64({ entries, start, length }: ZipDirectory): boolean {
  return entries >= MAX_16 || start >= MAX_32 || length >= MAX_32
}

export function endLength(directory: ZipDirectory): number {
  return END + (needsZip64(directory) ? ZIP64_END + ZIP64_LOCATOR : 0)
}

export function endRecords(directory: ZipDirectory): Uint8Array {
  const { entries, start, length } = directory
  const record = writer(endLength(directory))
  if (needsZip64(directory)) {
    record.u32(0x06064b50)
    record.u64(ZIP64_END - 12)
    record.u16(MADE_BY_UNIX)
    record.u16(VERSION_ZIP64)
    record.u32(0) // this disk
    record.u32(0) // the directory's disk
    record.u64(entries)
    record.u64(entries)
    record.u64(length)
    record.u64(start)
    record.u32(0x07064b50)
    record.u32(0) // the disk of the record above
    record.u64(start + length)
    record.u32(1) // disks
  }
  record.u32(0x06054b50)
  record.u16(0) // this disk
  record.u16(0) // the directory's disk
  record.u16(Math.min(entries, MAX_16))
  record.u16(Math.min(entries, MAX_16))
  record.u32(Math.min(length, MAX_32))
  record.u32(Math.min(start, MAX_32))
  record.u16(0) // no comment
  return record.done()
}

/** Fields from the flags to the length of the extra fields. */
function shared(record: Writer, entry: ZipEntry, extraLength: number): void {
  const { time, date } = dosTime(entry.modifiedAt)
  record.u16(UTF8_NAMES)
  record.u16(STORED)
  record.u16(time)
  record.u16(date)
  record.u32(entry.crc32)
  record.u32(Math.min(entry.size, MAX_32))
  record.u32(Math.min(entry.size, MAX_32))
  record.u16(entry.path.length)
  record.u16(extraLength)
}

/** Info-ZIP's extended timestamp: modification only, seconds since the epoch, up to 2038. */
function timeExtra(record: Writer, entry: ZipEntry): void {
  record.u16(0x5455)
  record.u16(5)
  record.u8(1)
  record.u32(Math.min(Math.max(0, Math.floor(entry.modifiedAt / 1000)), 0x7fffffff))
}

/** In UTC, because the reader's zone is unknown; the extended timestamp is exact. */
function dosTime(milliseconds: number): { readonly time: number; readonly date: number } {
  const moment = new Date(milliseconds)
  const year = moment.getUTCFullYear()
  if (year < 1980) return { time: 0, date: (1 << 5) | 1 }
  if (year > 2107) return { time: 0xbf7d, date: 0xff9f }
  return {
    time:
      (moment.getUTCHours() << 11) | (moment.getUTCMinutes() << 5) | Math.floor(moment.getUTCSeconds() / 2),
    date: ((year - 1980) << 9) | ((moment.getUTCMonth() + 1) << 5) | moment.getUTCDate(),
  }
}

interface Writer {
  u8(value: number): void
  u16(value: number): void
  u32(value: number): void
  u64(value: number): void
  bytes(value: Uint8Array): void
  done(): Uint8Array
}

/** Little-endian, as ZIP is. A DataView would allocate outside the heap for each record. */
function writer(length: number): Writer {
  const record = new Uint8Array(length)
  let at = 0
  const u8 = (value: number) => {
    record[at++] = value
  }
  const u16 = (value: number) => {
    u8(value)
    u8(value >>> 8)
  }
  const u32 = (value: number) => {
    u16(value)
    u16(value >>> 16)
  }
  return {
    u8,
    u16,
    u32,
    u64(value) {
      u32(value % 2 ** 32)
      u32(Math.floor(value / 2 ** 32))
    },
    bytes(value) {
      record.set(value, at)
      at += value.length
    },
    done: () => record,
  }
}

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

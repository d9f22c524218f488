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

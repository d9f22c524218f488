/** Reads the list of entries at the end of a ZIP file (APPNOTE 6.3.10), and nothing else of it. */
import { zipEntryName } from './zip-names.ts'

export interface ListedZipEntry {
  readonly path: string
  /** Bytes when unpacked, as the list says. */
  readonly size: number
  readonly isFolder: boolean
}

export interface ListedZipDirectory {
  readonly entries: readonly ListedZipEntry[]
  /** How many the file says there are. */
  readonly total: number
}

export interface ZipLimits {
  readonly entries: number
  /** Bytes of the list that are read. */
  readonly bytes: number
}

type Read = (start: number, end: number) => Promise<Uint8Array<ArrayBuffer>>

const END = { signature: 0x06054b50, length: 22 }
const LOCATOR = { signature: 0x07064b50, length: 20 }
const END_64 = { signature: 0x06064b50, length: 56 }
const RECORD = { signature: 0x02014b50, length: 46 }
const MAX_COMMENT = 0xffff
const MAX_16 = 0xffff
const MAX_32 = 0xffffffff
const UTF8_NAME = 1 << 11
const SIZES_64 = 0x0001

/** Throws when there is no list where it should be. */
export async function readZipDirectory(
  size: number,
  read: Read,
  limits: ZipLimits,
): Promise<ListedZipDirectory> {
  const tailStart = Math.max(0, size - END.length - MAX_COMMENT - LOCATOR.length)
  const tail = await read(tailStart, size)
  const view = viewOf(tail)
  const end = findEnd(view)
  const found = await placeOfDirectory(view, end, read)
  const length = Math.min(found.length, limits.bytes)
  const bytes = await read(found.start, found.start + length)
  // What was put before the archive, as a program that unpacks it, moves the list, but not away from its end.
  const isThere = bytes.length >= 4 && viewOf(bytes).getUint32(0, true) === RECORD.signature
  const moved = tailStart + end - found.length
  const list = isThere ? bytes : await read(Math.max(0, moved), moved + length)
  return { total: found.total, entries: entriesOf(list, Math.min(found.total, limits.entries)) }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The last record that is followed by exactly the comment that it tells of. */
function findEnd(view: DataView): number {
  for (let at = view.byteLength - END.length; at >= 0; at -= 1) {
    if (view.getUint32(at, true) !== END.signature) continue
    if (at + END.length + view.getUint16(at + 20, true) === view.byteLength) return at
  }
  throw new Error('there is no end of a list')
}

interface Place {
  readonly start: number
  readonly length: number
  readonly total: number
}

async function placeOfDirectory(view: DataView, end: number, read: Read): Promise<Place> {
  const total = view.getUint16(end + 10, true)
  const length = view.getUint32(end + 12, true)
  const start = view.getUint32(end + 16, true)
  const locator = end - LOCATOR.length
  const isLarge = total === MAX_16 || length === MAX_32 || start === MAX_32
  if (isLarge && locator >= 0 && view.getUint32(locator, true) === LOCATOR.signature) {
    const at = large(view, locator + 8)
    const record = viewOf(await read(at, at + END_64.length))
    if (record.byteLength === END_64.length && record.getUint32(0, true) === END_64.signature) {
      return { total: large(record, 32), length: large(record, 40), start: large(record, 48) }
    }
  }
  return { total, length, start }
}

function large(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true))
}

/** As many as there are whole ones, up to `limit`. */
function entriesOf(bytes: Uint8Array, limit: number): ListedZipEntry[] {
  const view = viewOf(bytes)
  const entries: ListedZipEntry[] = []
  let at = 0
  while (entries.length < limit && at + RECORD.length <= bytes.length) {
    if (view.getUint32(at, true) !== RECORD.signature) break
    const nameEnd = at + RECORD.length + view.getUint16(at + 28, true)
    const extraEnd = nameEnd + view.getUint16(at + 30, true)
    if (extraEnd > bytes.length) break
    const isUtf8 = (view.getUint16(at + 8, true) & UTF8_NAME) !== 0
    const path = zipEntryName(bytes.subarray(at + RECORD.length, nameEnd), isUtf8)
    const size = view.getUint32(at + 24, true)
    entries.push({
      path,
      size: size === MAX_32 ? (size64(view, nameEnd, extraEnd) ?? size) : size,
      isFolder: path.endsWith('/'),
    })
    at = extraEnd + view.getUint16(at + 32, true)
  }
  if (entries.length === 0 && limit > 0) throw new Error('there is no list of entries')
  return entries
}

/** The size in the extra field that has room for large ones; the unpacked one comes first. */
function size64(view: DataView, start: number, end: number): number | null {
  for (let at = start; at + 4 <= end; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) === SIZES_64 && at + 12 <= end) return large(view, at + 4)
  }
  return null
}

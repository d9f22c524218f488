import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { WatchedFile } from './file-changes.ts'
import type { BytesBefore } from './server.ts'
import { UploadOver } from './transfer-context.ts'
import type { OtherFile } from './upload-item.ts'

/** What is known of the file of an upload. */
export interface KnownFile {
  readonly name: string
  readonly size: number
  /** Milliseconds since 1970; null where nobody has said it. */
  readonly lastModified: number | null
}

/**
 * Whether it may be the very file, as far as a browser tells without reading it. Files that are alike in all of this may
 * have other bytes, which `continues` and `hasSameBytes` tell.
 */
export function isAlike(file: File, known: KnownFile): boolean {
  const isAsOld = known.lastModified === null || file.lastModified === known.lastModified
  return hasNameAndSize(file, known) && isAsOld
}

/**
 * Whether a file goes on where an upload is: what lies before the offset is the same in both. Two versions must not be
 * joined into one that never was. Throws UploadOver where the file cannot be read.
 */
export async function continues(file: Blob, offset: number, before: BytesBefore | null): Promise<boolean> {
  if (before === null) return true
  const bytes = await file
    .slice(offset - before.length, offset)
    .arrayBuffer()
    .catch(() => {
      throw new UploadOver({ kind: 'changed' })
    })
  return bytesToHex(sha256(new Uint8Array(bytes))) === before.sha256
}

/** Bytes of the largest files that are compared whole. */
const LARGEST_COMPARED = 64 * 1024 ** 2
const PIECE = 4 * 1024 ** 2

/**
 * Whether two files that are alike have the same bytes. Of large ones, which would take long to read, that is taken for
 * certain only where the browser knows both to be the same file: an upload too many is better than a file that is missing.
 */
export async function hasSameBytes(one: WatchedFile, other: WatchedFile): Promise<boolean> {
  if (one.file === other.file) return true
  if (one.handle !== null && other.handle !== null) {
    if (await one.handle.isSameEntry(other.handle).catch(() => false)) return true
  }
  if (one.file.size !== other.file.size || one.file.size > LARGEST_COMPARED) return false
  try {
    for (let at = 0; at < one.file.size; at += PIECE) {
      const [these, those] = await Promise.all(
        [one, other].map(async ({ file }) => new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer())),
      )
      if (these?.some((byte, index) => byte !== those?.[index])) return false
    }
    return true
  } catch {
    return false
  }
}

/** What a person is told who has chosen another file. */
export function otherThan(known: KnownFile, file: File): OtherFile {
  return { name: file.name, size: file.size, isNewer: hasNameAndSize(file, known) }
}

/** Systems write letters with marks in different ways; the server in one. */
function hasNameAndSize(file: File, { name, size }: KnownFile): boolean {
  return file.name.normalize('NFC') === name.normalize('NFC') && file.size === size
}

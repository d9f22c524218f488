import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { WatchedFile } from './file-changes.ts'
import type { BytesBefore } from './server.ts'
import { UploadOver } from './transfer-context.ts'
import type { OtherFile } from './upload-item.ts'

export interface KnownFile {
  readonly name: string
  readonly size: number
  /** Milliseconds since 1970; null where unknown. */
  readonly lastModified: number | null
}

/** Files alike in name, size and date may have other bytes: see `continues` and `hasSameBytes`. */
export function isAlike(file: File, known: KnownFile): boolean {
  const isAsOld = known.lastModified === null || file.lastModified === known.lastModified
  return hasNameAndSize(file, known) && isAsOld
}

/** Two versions must not be mixed. Throws UploadOver for an unreadable file. */
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

const LARGEST_COMPARED = 64 * 1024 ** 2
const PIECE = 4 * 1024 ** 2

/** Large files, slow to read, count as equal only where the browser knows them to be one file. */
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

export function otherThan(known: KnownFile, file: File): OtherFile {
  return { name: file.name, size: file.size, isNewer: hasNameAndSize(file, known) }
}

/** Systems differ in the normalization of letters with marks; the server uses one. */
function hasNameAndSize(file: File, { name, size }: KnownFile): boolean {
  return file.name.normalize('NFC') === name.normalize('NFC') && file.size === size
}

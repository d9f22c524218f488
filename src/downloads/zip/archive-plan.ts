import { Refusal } from '../../domain/errors.ts'
import type { BlobId, BlobKey, FileId } from '../../domain/ids.ts'
import { byteList, numberList } from '../../domain/packed-lists.ts'
import type { ArchiveFileRow } from './archive.rows.ts'
import { zipEntries } from './zip-entries.ts'
import { type ZipLayout, zipLayout } from './zip-layout.ts'
import { MAX_16 } from './zip-records.ts'

/** An archive as it was when it was asked for: what is in it, where each thing lies, and whose bytes they are. */
export interface ArchivePlan {
  readonly layout: ZipLayout
  /** A strong entity tag as it is sent: two archives with the same one are the same bytes. */
  readonly etag: string
  /** null for a folder. */
  file(entry: number): PlannedFile | null
  /** Gives its memory back; nobody reads it any more. */
  free(): void
}

export interface PlannedFile {
  readonly id: FileId
  readonly blobId: BlobId
  /** Where the content lay then. */
  readonly blobKey: BlobKey
  /** Bytes of the content. */
  readonly size: number
}

export interface PlanBuilder {
  /** The number that stands for the folder. Throws Refusal INVALID_REQUEST when its path is too long for an archive. */
  addFolder(parent: number, name: string, createdAt: number): number
  addFile(folder: number, name: string, row: ArchiveFileRow): void
  finish(): ArchivePlan
}

/** Changes with every change of how an archive is written, so that no download goes on in another form. */
const FORM = 'holdfast zip 1\n'
const KEY_BYTES = 16
const NO_FILE = 0
const NO_KEY = '00'.repeat(KEY_BYTES)

export function planBuilder(): PlanBuilder {
  const entries = zipEntries()
  const keys = byteList()
  const fileIds = numberList('f64')
  const blobIds = numberList('f64')
  const hash = new Bun.CryptoHasher('sha256')
  hash.update(FORM)

  function checkedPath(entry: number, name: string): number {
    if (entries.pathLength(entry) <= MAX_16) return entry
    throw new Refusal(
      'INVALID_REQUEST',
      `The path of "${name}" is too long for a zip; download a folder further down by itself`,
    )
  }

  return {
    addFolder(parent, name, createdAt) {
      keys.push(NO_KEY, 'hex')
      fileIds.push(NO_FILE)
      blobIds.push(0)
      const folder = { folder: parent, name, isFolder: true, size: 0, crc32: 0, modifiedAt: createdAt }
      return checkedPath(entries.add(folder), name)
    },

    addFile(folder, name, { id, size, crc32, created_at: modifiedAt, sha256, blob_id, blob_key }) {
      keys.push(blob_key, 'hex')
      fileIds.push(id)
      blobIds.push(blob_id)
      hash.update(sha256)
      checkedPath(entries.add({ folder, name, isFolder: false, size, crc32, modifiedAt }), name)
    },

    finish() {
      for (const part of entries.identity()) hash.update(part)
      return {
        layout: zipLayout(entries),
        free() {
          for (const list of [entries, keys, fileIds, blobIds]) list.free()
        },
        etag: `"zip-${hash.digest('base64url')}"`,
        file(entry) {
          const id = fileIds.at(entry)
          if (id === NO_FILE) return null
          return {
            id: id as FileId,
            blobId: blobIds.at(entry) as BlobId,
            blobKey: keys.hex(entry * KEY_BYTES, KEY_BYTES) as BlobKey,
            size: entries.size(entry),
          }
        },
      }
    },
  }
}

import { Refusal } from '../../domain/errors.ts'
import type { BlobId, BlobKey, FileId } from '../../domain/ids.ts'
import { byteList, numberList } from '../../domain/packed-lists.ts'
import { foldName } from '../../domain/sort-key.ts'
import type { ArchiveFileRow } from './archive.rows.ts'
import { ZIP_TOP, type ZipEntries, type ZipLayout, zipEntries, zipLayout } from './zip-entries.ts'
import { zipNames } from './zip-names.ts'
import { MAX_16 } from './zip-records.ts'

export interface ArchivePlan {
  readonly layout: ZipLayout
  /** A strong entity tag as sent: equal tags mean equal bytes. */
  readonly etag: string
  /** Null for a folder, and for the note of damaged files. */
  file(entry: number): PlannedFile | null
  /** Names the damaged files, which are left out; null for none. */
  readonly note: { readonly entry: number; readonly bytes: Uint8Array } | null
  /** Do not read any more. */
  free(): void
}

export interface PlannedFile {
  readonly id: FileId
  readonly blobId: BlobId
  /** As planned; it may change. */
  readonly blobKey: BlobKey
  /** Bytes. */
  readonly size: number
}

export interface PlanBuilder {
  /** Throws Refusal INVALID_REQUEST when the path is too long for an archive. */
  addFolder(parent: number, name: string, createdAt: number): number
  addFile(folder: number, name: string, row: ArchiveFileRow): void
  finish(): ArchivePlan
}

/** Change it with every change of the format, so that no download resumes in another. */
const FORM = 'holdfast zip 1\n'
const KEY_BYTES = 16
const NO_FILE = 0
const NO_KEY = '00'.repeat(KEY_BYTES)

export function planBuilder(): PlanBuilder {
  const entries = zipEntries()
  const keys = byteList()
  const fileIds = numberList('f64')
  const blobIds = numberList('f64')
  const damaged = new DamageNote()
  const hash = new Bun.CryptoHasher('sha256')
  hash.update(FORM)

  function checkedPath(entry: number, name: string): number {
    if (entries.pathLength(entry) <= MAX_16) return entry
    throw new Refusal(
      'INVALID_REQUEST',
      `The path of "${name}" is too long for a zip; download a folder further down by itself`,
    )
  }

  const pathOf = (folder: number) =>
    folder === ZIP_TOP ? '' : Buffer.from(entries.at(folder).path).toString()

  function addNote(): ArchivePlan['note'] {
    if (damaged.isEmpty) return null
    const bytes = damaged.text()
    keys.push(NO_KEY, 'hex')
    fileIds.push(NO_FILE)
    blobIds.push(0)
    hash.update(bytes)
    const { modifiedAt } = damaged
    const [name, size, crc32] = [damaged.nameBeside(entries), bytes.length, Bun.hash.crc32(bytes)]
    const text = { folder: ZIP_TOP, name, isFolder: false, size, crc32, modifiedAt }
    return { entry: entries.add(text), bytes }
  }

  return {
    addFolder(parent, name, createdAt) {
      keys.push(NO_KEY, 'hex')
      fileIds.push(NO_FILE)
      blobIds.push(0)
      const folder = { folder: parent, name, isFolder: true, size: 0, crc32: 0, modifiedAt: createdAt }
      return checkedPath(entries.add(folder), name)
    },

    addFile(folder, name, { id, size, crc32, created_at: modifiedAt, sha256, blob_id, blob_key, damage }) {
      if (damage !== null) return damaged.add(() => `${pathOf(folder)}${name}`, modifiedAt)
      keys.push(blob_key, 'hex')
      fileIds.push(id)
      blobIds.push(blob_id)
      hash.update(sha256)
      checkedPath(entries.add({ folder, name, isFolder: false, size, crc32, modifiedAt }), name)
    },

    finish() {
      const note = addNote()
      for (const part of entries.identity()) hash.update(part)
      return {
        layout: zipLayout(entries),
        free() {
          for (const list of [entries, keys, fileIds, blobIds]) list.free()
        },
        note,
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

/** Numbered when taken at the top of the archive. */
const NAME = 'damaged files.txt'
/** Bytes of a name that could collide. */
const LONGEST_RIVAL = 128
const MOST_NAMED = 10_000

const WORDS = [
  'The server has lost bytes of these files, so this archive does not have them.',
  'Ask whoever shared them to upload them again.',
]

class DamageNote {
  readonly #paths: string[] = []
  #more = 0
  #latest = 0

  get isEmpty(): boolean {
    return this.#paths.length === 0
  }

  get modifiedAt(): number {
    return this.#latest
  }

  add(path: () => string, createdAt: number): void {
    this.#latest = Math.max(this.#latest, createdAt)
    if (this.#paths.length < MOST_NAMED) this.#paths.push(path())
    else this.#more++
  }

  text(): Uint8Array {
    const more = this.#more > 0 ? ['', `and ${this.#more} more`] : []
    return Buffer.from([...WORDS, '', ...this.#paths, ...more, ''].join('\n'))
  }

  /** Unlike all names at the top, regardless of case. */
  nameBeside(entries: ZipEntries): string {
    const taken = new Set<string>()
    for (let entry = 0; entry < entries.count; entry++) {
      if (entries.pathLength(entry) > LONGEST_RIVAL) continue
      const name = Buffer.from(entries.at(entry).path).toString().replace(/\/$/, '')
      if (!name.includes('/')) taken.add(foldName(name))
    }
    const names = zipNames()
    for (;;) {
      const name = names.take(NAME)
      if (!taken.has(foldName(name))) return name
    }
  }
}

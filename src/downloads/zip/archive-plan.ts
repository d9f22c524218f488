import type { Database } from '../../database/database.ts'
import { yieldToEventLoop } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { markedName, shortName } from '../../domain/file-name.ts'
import type { BlobId, BlobKey, FileId, FolderId } from '../../domain/ids.ts'
import { byteList, numberList } from '../../domain/packed-lists.ts'
import { foldName } from '../../domain/sort-key.ts'
import {
  type ArchiveFileRow,
  type ArchiveFolderRow,
  archiveFilesAfter,
  archiveFilesOf,
  archiveSubfolders,
} from './archive.rows.ts'
import { incrementalCollector } from './archive-filler.ts'
import { MAX_16, ZIP_TOP, type ZipEntries, type ZipLayout, zipEntries, zipLayout } from './zip-records.ts'

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

/** Rows that one statement reads, or a few more where files came meanwhile. */
const PAGE = 500
/** Folders that one statement asks about. */
const MOST_FOLDERS = 200

/** A folder, and what it is in the plan. */
interface Step {
  readonly row: ArchiveFolderRow
  readonly entry: number
}

/**
 * Plans everything below the live folder that `mayEnter` lets in, level by level and in pages: what a folder holds
 * stands together, its folders by age and its files by name. The same folders and files give the same plan. Throws what
 * `gone` was aborted with when nobody wants it any more.
 */
export async function planTree(
  db: Database,
  top: Step,
  mayEnter: (folder: ArchiveFolderRow) => boolean,
  plan: PlanBuilder,
  gone: AbortSignal,
): Promise<void> {
  const passed = incrementalCollector()
  let level: Step[] = [top]
  while (level.length > 0) {
    const below: Step[] = []
    for (const some of together(level)) {
      const open = openFolders(some)
      for await (const row of subfolders(db, some)) {
        gone.throwIfAborted()
        if (row.parent_id === null || !mayEnter(row)) continue
        const { entry, names } = open(row.parent_id)
        below.push({ row, entry: plan.addFolder(entry, names.take(row.name), row.created_at) })
      }
      for await (const row of files(db, some)) {
        gone.throwIfAborted()
        const { entry, names } = open(row.folder_id)
        plan.addFile(entry, names.take(row.name, row.name_folded), row)
        passed()
      }
    }
    level = below
  }
}

interface OpenFolder {
  readonly entry: number
  readonly names: ZipNames
}

function openFolders(steps: readonly Step[]): (id: FolderId) => OpenFolder {
  const folders = new Map<FolderId, OpenFolder>()
  for (const { row, entry } of steps) folders.set(row.id, { entry, names: zipNames() })
  return (id) => {
    const folder = folders.get(id)
    if (folder === undefined) throw new Error('a row lies in a folder that was not asked about')
    return folder
  }
}

/** The folders in groups that hold no more than a page together, or are alone. */
function* together(steps: readonly Step[]): Generator<readonly Step[]> {
  let group: Step[] = []
  let weight = 0
  for (const step of steps) {
    const its = step.row.file_count + step.row.tree_folders
    if (group.length === MOST_FOLDERS || (group.length > 0 && weight + its > PAGE)) {
      yield group
      group = []
      weight = 0
    }
    group.push(step)
    weight += its
  }
  if (group.length > 0) yield group
}

async function* subfolders(db: Database, steps: readonly Step[]): AsyncGenerator<ArchiveFolderRow> {
  const parents = steps.filter(({ row }) => row.tree_folders > 0).map(({ row }) => row.id)
  let after: FolderId | null = null
  while (parents.length > 0) {
    const page: ArchiveFolderRow[] = await archiveSubfolders(db, parents, after, PAGE)
    yield* page
    await yieldToEventLoop()
    after = page.at(-1)?.id ?? null
    if (page.length < PAGE) return
  }
}

async function* files(db: Database, steps: readonly Step[]): AsyncGenerator<ArchiveFileRow> {
  const folders = steps.filter(({ row }) => row.file_count > 0).map(({ row }) => row.id)
  const [folder, another] = folders
  if (folder === undefined) return
  if (another !== undefined) {
    yield* await archiveFilesOf(db, folders)
    await yieldToEventLoop()
    return
  }
  let after: ArchiveFileRow | null = null
  do {
    const page: ArchiveFileRow[] = await archiveFilesAfter(db, folder, after, PAGE)
    yield* page
    await yieldToEventLoop()
    after = page.length < PAGE ? null : (page.at(-1) ?? null)
  } while (after !== null)
}

/** Path traversal, and what Windows refuses in a name: its own unpacker stops there. */
const REFUSED = /[/\\:*?"<>|]|[. ]+$/g

/** Names of devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

export interface ZipNames {
  /**
   * One path component of at most 255 bytes of UTF-8, valid on Windows, unique regardless of case; numbered like ` (2)`
   * before the extension. `folded`: `foldName(name)`, if known.
   */
  take(name: string, folded?: string): string
}

export function zipNames(): ZipNames {
  /** By digest of the folded name, the number to try next. */
  const taken = new Map<number, number>()

  return {
    take(name, folded) {
      const clean = cleanComponent(name)
      const base = digest(clean === name && folded !== undefined ? folded : foldName(clean))
      const next = taken.get(base)
      if (next === undefined) {
        taken.set(base, 2)
        return clean
      }
      for (let number = next; ; number++) {
        const marked = markedName(clean, ` (${number})`)
        const key = digest(foldName(marked))
        if (taken.has(key)) continue
        taken.set(base, number + 1)
        taken.set(key, 2)
        return marked
      }
    },
  }
}

/** 53 bits instead of very many names. A rare collision only numbers a name needlessly. */
function digest(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x9e3779b1)
    low = Math.imul(low ^ unit, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (low & 0x1fffff) * 2 ** 32 + (high >>> 0)
}

function cleanComponent(name: string): string {
  const plain = name.replace(REFUSED, '_').replace(DEVICE, '$&_')
  return plain === '' ? '_' : shortName(plain)
}

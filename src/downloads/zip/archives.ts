import type { BlobStore } from '../../blobs/blob-store.ts'
import type { SecondCopies } from '../../core/store/second-copy.ts'
import type { Database } from '../../database/database.ts'
import type { Requester, Viewer } from '../../domain/access.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileId, FolderId } from '../../domain/ids.ts'
import type { Reach } from '../../domain/reach.ts'
import { folderChain } from '../../files/folders/folders.rows.ts'
import { resolvePlace } from '../../files/folders/places.ts'
import { fileNotFound } from '../../files/own-file.ts'
import { type AccessControl, opened, unlocked } from '../../sharing/access.ts'
import type { BytesSent } from '../bytes-sent.ts'
import type { SuspectQueue } from '../content.ts'
import { type ArchiveFolderRow, archiveFilesByIds, archiveFolder } from './archive.rows.ts'
import { ArchiveContents } from './archive-contents.ts'
import { type ArchivePlan, type PlanBuilder, planBuilder } from './archive-plan.ts'
import type { ArchiveReader, ArchiveSlot, ArchiveSlots } from './archive-slots.ts'
import { archiveStream } from './archive-stream.ts'
import { planTree } from './archive-walk.ts'
import { ZIP_TOP } from './zip-entries.ts'
import { zipNames } from './zip-names.ts'

export interface ArchiveSelection {
  readonly files: readonly FileId[]
  readonly folders: readonly FolderId[]
}

export interface Archive {
  /** Bytes. */
  readonly size: number
  /** A strong entity tag as sent. */
  readonly etag: string
  /** `end` is exclusive. */
  read(start: number, end: number, watch: ArchiveWatch): ReadableStream<Uint8Array>
  /** Call where nothing is read. */
  close(): void
}

export interface ArchiveWatch {
  /** The file is sent from its first byte, and its first bytes could be read. */
  began(file: FileId): void
  failed(error: unknown): void
  readonly sent: BytesSent
}

/**
 * The caller has checked access. A snapshot: later renames, moves and files change nothing, and a content gone for good
 * fails the stream. Damaged contents are left out and named in a note. Waits for a slot, held until the reader has gone
 * or `close`; throws Refusal SERVER_BUSY as `ArchiveSlots` does.
 */
export class Archives {
  readonly #db: Database
  readonly #access: AccessControl
  readonly #slots: ArchiveSlots
  readonly #contents: ArchiveContents

  constructor(
    db: Database,
    blobs: BlobStore,
    access: AccessControl,
    { copies, suspects }: { copies: SecondCopies; suspects: SuspectQueue },
    slots: ArchiveSlots,
  ) {
    this.#db = db
    this.#access = access
    this.#slots = slots
    this.#contents = new ArchiveContents(db, blobs, copies, suspects)
  }

  /** Leaves out subfolders that are hidden from or locked for the viewer. */
  async folder(reader: ArchiveReader, viewer: Viewer, folder: FolderId): Promise<Archive> {
    const row = await archiveFolder(this.#db, folder)
    const enter = (below: ArchiveFolderRow) => this.#access.opens(viewer, below)
    return this.#planned(reader, entriesBelow(row), (plan) =>
      planTree(this.#db, { row, entry: ZIP_TOP }, enter, plan, reader.gone),
    )
  }

  /** Throws Refusal FOLDER_NOT_FOUND when the reach was one folder and it is gone. */
  async everything(reader: ArchiveReader, reach: Reach): Promise<Archive> {
    const viewer = { account: reach.account, grants: new Map() }
    return this.folder(reader, viewer, await resolvePlace(this.#db, reach, 'root'))
  }

  /**
   * A folder inside another chosen one appears there only. Throws Refusal FILE_NOT_FOUND or FOLDER_NOT_FOUND for a
   * hidden item too, PASSWORD_REQUIRED for a locked one, and INVALID_TOKEN when a subfolder is closed to the requester:
   * an owner must not take a partial archive for the whole.
   */
  async selection(
    reader: ArchiveReader,
    requester: Requester,
    { files, folders }: ArchiveSelection,
  ): Promise<Archive> {
    const trees = await this.#outermost(requester, folders)
    for (const id of files) unlocked(await this.#access.file(requester, { kind: 'id', id }))
    const entries = trees.reduce((sum, { row }) => sum + 1 + entriesBelow(row), files.length)
    return this.#planned(reader, entries, async (plan) => {
      const names = zipNames()
      for (const tree of trees) {
        const entry = plan.addFolder(ZIP_TOP, names.take(tree.row.name), tree.row.created_at)
        const enter = (below: ArchiveFolderRow) => this.#entered(tree.viewer, below)
        await planTree(this.#db, { row: tree.row, entry }, enter, plan, reader.gone)
      }
      // PostgreSQL has no empty list.
      const rows = files.length === 0 ? [] : await archiveFilesByIds(this.#db, files)
      if (rows.length < files.length) throw fileNotFound()
      for (const row of rows) plan.addFile(ZIP_TOP, names.take(row.name, row.name_folded), row)
    })
  }

  /** Throws Refusal INVALID_TOKEN for a folder that is closed to the viewer. */
  #entered(viewer: Viewer, folder: ArchiveFolderRow): true {
    if (this.#access.opens(viewer, folder)) return true
    throw closedSince()
  }

  /** The slot ends with the reader, or when planning fails. */
  async #planned(
    reader: ArchiveReader,
    entries: number,
    make: (plan: PlanBuilder) => Promise<void>,
  ): Promise<Archive> {
    const slot = await this.#slots.take(reader, entries)
    try {
      const plan = planBuilder()
      await make(plan)
      slot.yielded.throwIfAborted()
      const finished = plan.finish()
      const over = () => {
        slot.end()
        finished.free()
      }
      const archive = this.#archiveOf(finished, slot, over)
      reader.gone.addEventListener('abort', over, { once: true })
      reader.gone.throwIfAborted()
      slot.planned()
      return archive
    } catch (error) {
      slot.end()
      throw error
    }
  }

  #archiveOf({ layout, etag, file, note }: ArchivePlan, slot: ArchiveSlot, over: () => void): Archive {
    const contents = this.#contents
    return {
      size: layout.size,
      etag,
      close: over,
      read: (start, end, watch) =>
        archiveStream(layout.segments(start, end), {
          async fill(entry, from, target) {
            if (entry !== note?.entry) return contents.fill(file(entry), from, target)
            target.set(note.bytes.subarray(from, from + target.length))
          },
          stream: async (entry, from, to) =>
            entry === note?.entry ? null : contents.stream(file(entry), from, to),
          began(entry) {
            const begun = file(entry)
            if (begun !== null) watch.began(begun.id)
          },
          failed: watch.failed,
          sent(bytes) {
            slot.used()
            watch.sent.add(bytes)
          },
          ended: slot.yielded,
          over() {
            watch.sent.over()
            over()
          },
        }),
    }
  }

  /** Drops folders inside another chosen one. */
  async #outermost(requester: Requester, folders: readonly FolderId[]): Promise<Tree[]> {
    const chosen = new Set(folders)
    const trees: Tree[] = []
    for (const id of folders) {
      const { viewer } = opened(await this.#access.folder(requester, id))
      const above = (await folderChain(this.#db, id)).filter((step) => step.id !== id)
      if (above.some((step) => chosen.has(step.id))) continue
      trees.push({ viewer, row: await archiveFolder(this.#db, id) })
    }
    return trees
  }
}

interface Tree {
  readonly viewer: Viewer
  readonly row: ArchiveFolderRow
}

function closedSince(): Refusal {
  return new Refusal(
    'INVALID_TOKEN',
    'A folder in it was made private or got a password since; ask for a new address',
  )
}

function entriesBelow({ tree_files, tree_folders }: ArchiveFolderRow): number {
  return tree_files + tree_folders
}

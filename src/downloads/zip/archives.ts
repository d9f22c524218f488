import { type BlobChunks, type BlobStore, isLost, isUnreadable } from '../../blobs/blob-store.ts'
import { readingFailure } from '../../core/failures.ts'
import type { SecondCopies } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import type { Reach, Requester, Viewer } from '../../domain/access.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileId, FolderId } from '../../domain/ids.ts'
import { fileNotFound, findFile } from '../../files/files.ts'
import { folderChain } from '../../files/folders/folders.rows.ts'
import { resolvePlace } from '../../files/folders/places.ts'
import { type AccessControl, opened, unlocked } from '../../sharing/access.ts'
import type { SuspectQueue } from '../content.ts'
import type { BytesSent } from '../send.ts'
import { type ArchiveFolderRow, archiveFilesByIds, archiveFolder, presentBlobKey } from './archive.rows.ts'
import { ArchiveFiller, type ArchiveSource } from './archive-filler.ts'
import {
  type ArchivePlan,
  type PlanBuilder,
  type PlannedFile,
  planBuilder,
  planTree,
  zipNames,
} from './archive-plan.ts'
import type { ArchiveReader, ArchiveSlot, ArchiveSlots } from './archive-slots.ts'
import { ZIP_TOP, type ZipSegment } from './zip-records.ts'

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
          read: async (entry, from, to) =>
            entry === note?.entry
              ? chunksOf(note.bytes.subarray(from, to))
              : contents.read(file(entry), from, to),
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

/** Planned files' keys may change. */
class ArchiveContents {
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #copies: SecondCopies
  readonly #suspects: SuspectQueue

  constructor(db: Database, blobs: BlobStore, copies: SecondCopies, suspects: SuspectQueue) {
    this.#db = db
    this.#blobs = blobs
    this.#copies = copies
    this.#suspects = suspects
  }

  /** `end` is exclusive. */
  async read(file: PlannedFile | null, start: number, end: number): Promise<BlobChunks> {
    if (file === null) throw new Error('a folder has no content')
    const chunks = await this.#begin(file, start, end)
    return {
      next: () => chunks.next().catch((error: unknown) => this.#fail(file, error)),
      cancel: () => chunks.cancel(),
      release: () => chunks.release(),
    }
  }

  async #begin(file: PlannedFile, start: number, end: number): Promise<BlobChunks> {
    try {
      return await this.#blobs.read(file.blobKey, start, end, file.size)
    } catch (error) {
      if (!isLost(error)) return this.#fail(file, error)
      // A newer copy of the content may have replaced this one, or it has gone.
      const key = await presentBlobKey(this.#db, file.blobId)
      if (key === undefined) throw error
      return this.#blobs
        .read(key, start, end, file.size)
        .catch((failure: unknown) => this.#fail(file, failure))
    }
  }

  /** A later request for the archive succeeds where there is a second copy. */
  async #fail({ id, blobId }: PlannedFile, error: unknown): Promise<never> {
    if (isUnreadable(error)) this.#suspects.add(blobId)
    if (!isLost(error)) throw error
    if (!(await this.#copies.repair(blobId))) this.#suspects.add(blobId)
    const file = await findFile(this.#db, { kind: 'id', id })
    throw file === undefined ? error : readingFailure(file, error)
  }
}

function chunksOf(bytes: Uint8Array): BlobChunks {
  let left: Uint8Array | null = bytes
  return {
    async next() {
      const chunk = left
      left = null
      return chunk
    },
    cancel() {},
    release() {},
  }
}

/** Bytes, for readers without a buffer. */
const CHUNK = 256 * 1024

/** Read straight into the reader's buffer, never ahead. Fails when a content has not the planned length. */
export function archiveStream(
  segments: Generator<ZipSegment>,
  source: ArchiveSource,
): ReadableStream<Uint8Array> {
  const filler = new ArchiveFiller(segments, source)
  const fail = (error: unknown) => {
    if (filler.isCancelled()) return
    filler.cancel()
    source.over()
    source.failed(error)
  }
  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: CHUNK,
    start(controller) {
      const end = () => {
        fail(source.ended.reason)
        controller.error(source.ended.reason)
      }
      source.ended.addEventListener('abort', end, { once: true })
    },
    async pull(controller) {
      const request = controller.byobRequest
      const view = request?.view
      if (!request || !view)
        throw new Error('a stream that allocates was asked for bytes without memory for them')
      try {
        const filled = await filler.fill(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
        if (filler.isCancelled()) return
        source.sent(filled)
        if (filled === 0) {
          controller.close()
          source.over()
        }
        request.respond(filled)
      } catch (error) {
        if (filler.isCancelled()) return
        fail(error)
        throw error
      }
    },
    cancel() {
      filler.cancel()
      source.over()
    },
  })
}

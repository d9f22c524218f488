import { type BlobStore, isLost } from '../blobs/blob-store.ts'
import {
  type ArchiveFolderRow,
  archiveFilesByIds,
  archiveFolder,
  folderIdentifier,
  presentBlobKey,
} from '../database/archive-rows.ts'
import { findFile } from '../database/files.ts'
import { folderChain } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import type { Asker, Viewer } from '../domain/access.ts'
import type { BlobKey, FileId, FolderId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { ZIP_TOP } from '../domain/zip-entries.ts'
import { zipNames } from '../domain/zip-names.ts'
import { type Access, fileNotFound, opened, unlocked } from './access.ts'
import { type ArchivePlan, type PlanBuilder, type PlannedFile, planBuilder } from './archive-plan.ts'
import { archiveStream } from './archive-stream.ts'
import { type ArchiveReader, type ArchiveTurns, createArchiveTurns } from './archive-turns.ts'
import { planTree } from './archive-walk.ts'
import { readingFailure } from './damage.ts'
import { folderNotFound, placeOf } from './places.ts'

/**
 * Files and folders as one ZIP file, for those whom the access rule has let in. An archive is a snapshot: what is
 * renamed, moved or put in while it is sent changes nothing in it, and when a content has gone for good the stream
 * fails. Each waits for its turn, and throws Refusal SERVER_BUSY as `ArchiveTurns` does; the reader keeps it until it has
 * gone, or `close` is called.
 */
export interface Archives {
  /**
   * What is in the folder, which the viewer may see, with its subfolders; those that the viewer may not see or has not
   * unlocked are left out.
   */
  folder(reader: ArchiveReader, viewer: Viewer, folder: FolderId): Promise<Archive>
  /** All that is within reach. Throws Refusal FOLDER_NOT_FOUND when that was one folder and it is gone. */
  everything(reader: ArchiveReader, reach: Reach): Promise<Archive>
  /**
   * The files and folders, side by side, each folder with what is in it; a folder that lies in another one of them is there
   * with that one alone. Throws Refusal FILE_NOT_FOUND or FOLDER_NOT_FOUND
   * when one of them has gone or the asker may not see it, and PASSWORD_REQUIRED when one is locked.
   */
  selection(reader: ArchiveReader, asker: Asker, selection: Selection): Promise<Archive>
}

/** What was chosen for one archive. */
export interface Selection {
  readonly files: readonly FileId[]
  readonly folders: readonly FolderId[]
}

export interface Archive {
  /** Bytes. */
  readonly size: number
  /** A strong entity tag as it is sent. */
  readonly etag: string
  /** The bytes `start` to `end` (exclusive). */
  read(start: number, end: number, watch: ArchiveWatch): ReadableStream<Uint8Array>
  /** Lets go of it where nothing is read. */
  close(): void
}

export interface ArchiveWatch {
  /** The file is being sent from its first byte on, and its first bytes could be read. */
  began(file: FileId): void
  /** The stream broke off because of this. */
  failed(error: unknown): void
}

export function createArchives(
  db: Db,
  blobs: BlobStore,
  access: Access,
  turns: ArchiveTurns = createArchiveTurns(),
): Archives {
  async function failed(id: FileId, error: unknown): Promise<never> {
    const file = await findFile(db, { kind: 'id', id })
    throw file === undefined ? error : readingFailure(file, error)
  }

  async function reading<T>(
    file: PlannedFile | null,
    read: (key: BlobKey, size: number) => Promise<T>,
  ): Promise<T> {
    if (file === null) throw new Error('a folder has no content')
    try {
      return await read(file.blobKey, file.size)
    } catch (error) {
      if (!isLost(error)) throw error
      // The same content was uploaded again and its newer copy has taken this one's place, or it has gone.
      const key = await presentBlobKey(db, file.blobId)
      if (key === undefined) throw error
      return read(key, file.size).catch((failure: unknown) => failed(file.id, failure))
    }
  }

  function archiveOf({ layout, etag, file }: ArchivePlan, over: () => void): Archive {
    return {
      size: layout.size,
      etag,
      close: over,
      read: (start, end, watch) =>
        archiveStream(layout.segments(start, end), {
          fill: (entry, from, target) =>
            reading(file(entry), (key, size) => blobs.readInto(key, from, target, size)),
          async stream(entry, from, to) {
            const body = await reading(file(entry), (key, size) => blobs.read(key, from, to, size))
            return body instanceof Blob ? null : body
          },
          began(entry) {
            const begun = file(entry)
            if (begun !== null) watch.began(begun.id)
          },
          failed: watch.failed,
          over,
        }),
    }
  }

  /** Makes the plan in the reader's turn, which ends with the reader, or when making it fails. */
  async function planned(
    reader: ArchiveReader,
    entries: number,
    make: (plan: PlanBuilder) => Promise<void>,
  ): Promise<Archive> {
    const turn = await turns.take(reader, entries)
    try {
      const plan = planBuilder()
      await make(plan)
      const finished = plan.finish()
      const over = () => {
        turn.end()
        finished.free()
      }
      const archive = archiveOf(finished, over)
      reader.gone.addEventListener('abort', over, { once: true })
      reader.gone.throwIfAborted()
      turn.planned()
      return archive
    } catch (error) {
      turn.end()
      throw error
    }
  }

  async function folder(reader: ArchiveReader, viewer: Viewer, id: FolderId): Promise<Archive> {
    const row = await archiveFolder(db, id)
    return planned(reader, entriesBelow(row), (plan) =>
      planTree(db, { row, entry: ZIP_TOP }, (below) => access.opens(viewer, below), plan, reader.gone),
    )
  }

  /** The chosen folders that the asker may see, without those that lie in another one of them. */
  async function outermost(asker: Asker, folders: readonly FolderId[]): Promise<Tree[]> {
    const chosen = new Set(folders)
    const trees: Tree[] = []
    for (const id of folders) {
      const identifier = await folderIdentifier(db, id)
      if (identifier === undefined) throw folderNotFound()
      const { viewer } = opened(await access.folder(asker, identifier))
      const above = (await folderChain(db, id)).filter((step) => step.id !== id)
      if (above.some((step) => chosen.has(step.id))) continue
      trees.push({ viewer, row: await archiveFolder(db, id) })
    }
    return trees
  }

  return {
    folder,

    everything: async (reader, reach) =>
      folder(reader, { account: reach.account, grants: new Map() }, await placeOf(db, reach, 'root')),

    async selection(reader, asker, { files, folders }) {
      const trees = await outermost(asker, folders)
      for (const id of files) unlocked(await access.file(asker, { kind: 'id', id }))
      const entries = trees.reduce((sum, { row }) => sum + 1 + entriesBelow(row), files.length)
      return planned(reader, entries, async (plan) => {
        const names = zipNames()
        for (const { viewer, row } of trees) {
          const entry = plan.addFolder(ZIP_TOP, names.take(row.name), row.created_at)
          await planTree(db, { row, entry }, (below) => access.opens(viewer, below), plan, reader.gone)
        }
        // PostgreSQL knows no empty list.
        const rows = files.length === 0 ? [] : await archiveFilesByIds(db, files)
        if (rows.length < files.length) throw fileNotFound()
        for (const row of rows) plan.addFile(ZIP_TOP, names.take(row.name, row.name_folded), row)
      })
    },
  }
}

interface Tree {
  readonly viewer: Viewer
  readonly row: ArchiveFolderRow
}

function entriesBelow({ tree_files, tree_folders }: ArchiveFolderRow): number {
  return tree_files + tree_folders
}

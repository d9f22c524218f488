import { type BlobStore, isLost } from '../blobs/blob-store.ts'
import {
  archiveFilesByIds,
  archiveFolder,
  folderIdentifier,
  presentBlobKey,
} from '../database/archive-rows.ts'
import { findFile } from '../database/files.ts'
import type { Db } from '../database/schema.ts'
import type { Asker, Viewer } from '../domain/access.ts'
import type { BlobKey, FileId, FolderId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { ZIP_TOP } from '../domain/zip-entries.ts'
import { type ZipNames, zipNames } from '../domain/zip-names.ts'
import { type Access, fileNotFound, opened, unlocked } from './access.ts'
import { type ArchivePlan, type PlanBuilder, type PlannedFile, planBuilder } from './archive-plan.ts'
import { archiveStream } from './archive-stream.ts'
import { planTree } from './archive-walk.ts'
import { readingFailure } from './damage.ts'
import { folderNotFound, placeOf } from './places.ts'

/**
 * Files and folders as one ZIP file, for those whom the access rule has let in. An archive is a snapshot: what is
 * renamed, moved or put in while it is sent changes nothing in it, and when a content has gone for good the stream
 * fails.
 */
export interface Archives {
  /**
   * What is in the folder, which the viewer may see, with its subfolders; those that the viewer may not see or has not
   * unlocked are left out.
   */
  folder(viewer: Viewer, folder: FolderId): Promise<Archive>
  /** All that is within reach. Throws Refusal FOLDER_NOT_FOUND when that was one folder and it is gone. */
  everything(reach: Reach): Promise<Archive>
  /**
   * The files and folders, side by side, each folder with what is in it. Throws Refusal FILE_NOT_FOUND or FOLDER_NOT_FOUND
   * when one of them has gone or the asker may not see it, and PASSWORD_REQUIRED when one is locked.
   */
  selection(asker: Asker, selection: Selection): Promise<Archive>
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
}

export interface ArchiveWatch {
  /** The file is being sent from its first byte on, and its first bytes could be read. */
  began(file: FileId): void
  /** The stream broke off because of this. */
  failed(error: unknown): void
}

export function createArchives(db: Db, blobs: BlobStore, access: Access): Archives {
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

  function archiveOf({ layout, etag, file }: ArchivePlan): Archive {
    return {
      size: layout.size,
      etag,
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
        }),
    }
  }

  async function folder(viewer: Viewer, id: FolderId): Promise<Archive> {
    const plan = planBuilder()
    await planTree(
      db,
      { row: await archiveFolder(db, id), entry: ZIP_TOP },
      (below) => access.opens(viewer, below),
      plan,
    )
    return archiveOf(plan.finish())
  }

  async function addTree(plan: PlanBuilder, names: ZipNames, asker: Asker, id: FolderId): Promise<void> {
    const identifier = await folderIdentifier(db, id)
    if (identifier === undefined) throw folderNotFound()
    const { viewer } = opened(await access.folder(asker, identifier))
    const row = await archiveFolder(db, id)
    const entry = plan.addFolder(ZIP_TOP, names.take(row.name), row.created_at)
    await planTree(db, { row, entry }, (below) => access.opens(viewer, below), plan)
  }

  return {
    folder,

    everything: async (reach) =>
      folder({ account: reach.account, grants: new Map() }, await placeOf(db, reach, 'root')),

    async selection(asker, { files, folders }) {
      const plan = planBuilder()
      const names = zipNames()
      for (const id of folders) await addTree(plan, names, asker, id)
      for (const id of files) unlocked(await access.file(asker, { kind: 'id', id }))
      const rows = await archiveFilesByIds(db, files)
      if (rows.length < files.length) throw fileNotFound()
      for (const row of rows) plan.addFile(ZIP_TOP, names.take(row.name, row.name_folded), row)
      return archiveOf(plan.finish())
    },
  }
}

import { BlobMissing, type BlobStore } from '../blobs/blob-store.ts'
import { archiveFilesByIds, archiveFolder, presentBlobKey } from '../database/archive-rows.ts'
import type { Db } from '../database/schema.ts'
import type { Asker, Viewer } from '../domain/access.ts'
import type { BlobKey, FileId, FolderId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { ZIP_TOP } from '../domain/zip-entries.ts'
import { zipNames } from '../domain/zip-names.ts'
import { type Access, fileNotFound, unlocked } from './access.ts'
import { type ArchivePlan, type PlannedFile, planBuilder } from './archive-plan.ts'
import { archiveStream } from './archive-stream.ts'
import { planTree } from './archive-walk.ts'
import { placeOf } from './places.ts'

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
   * The files, side by side. Throws Refusal FILE_NOT_FOUND when one of them has gone or the asker may not see it, and
   * PASSWORD_REQUIRED when one is locked.
   */
  files(asker: Asker, ids: readonly FileId[]): Promise<Archive>
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
  /** The file is about to be sent from its first byte on. */
  began(file: FileId): void
  /** The stream broke off because of this. */
  failed(error: unknown): void
}

export function createArchives(db: Db, blobs: BlobStore, access: Access): Archives {
  async function reading<T>(file: PlannedFile | null, read: (key: BlobKey) => Promise<T>): Promise<T> {
    if (file === null) throw new Error('a folder has no content')
    try {
      return await read(file.blobKey)
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw error
      // The same content was uploaded again and its newer copy has taken this one's place, or it has gone.
      const key = await presentBlobKey(db, file.blobId)
      if (key === undefined) throw error
      return read(key)
    }
  }

  function archiveOf({ layout, etag, file }: ArchivePlan): Archive {
    return {
      size: layout.size,
      etag,
      read: (start, end, watch) =>
        archiveStream(layout.segments(start, end), {
          fill: (entry, from, target) => reading(file(entry), (key) => blobs.readInto(key, from, target)),
          async stream(entry, from, to) {
            const body = await reading(file(entry), (key) => blobs.read(key, from, to))
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
    await planTree(db, await archiveFolder(db, id), (below) => access.opens(viewer, below), plan)
    return archiveOf(plan.finish())
  }

  return {
    folder,

    everything: async (reach) =>
      folder({ account: reach.account, grants: new Map() }, await placeOf(db, reach, 'root')),

    async files(asker, ids) {
      for (const id of ids) unlocked(await access.file(asker, { kind: 'id', id }))
      const rows = await archiveFilesByIds(db, ids)
      if (rows.length < ids.length) throw fileNotFound()
      const plan = planBuilder()
      const names = zipNames()
      for (const row of rows) plan.addFile(ZIP_TOP, names.take(row.name, row.name_folded), row)
      return archiveOf(plan.finish())
    },
  }
}

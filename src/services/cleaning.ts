import type { BlobStore } from '../blobs/blob-store.ts'
import { blobExists, dueGarbage, forgetGarbage, releaseBlob } from '../database/blobs.ts'
import { deletedFiles, dropFile, type PurgeableFile } from '../database/file-removal.ts'
import { dropDeletedFolders } from '../database/folders.ts'
import { endReservation, listReservations } from '../database/reservations.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, MINUTE } from '../domain/clock.ts'

/** A blob that nothing points to any more stays this long, for those who are still reading it. */
export const GARBAGE_GRACE = MINUTE

/** Rows go in steps, so that no transaction holds up the requests beside it. */
const STEP = 100

export interface Cleaning {
  /** Clears what a killed process left: unfinished uploads and the room they had reserved. Before serving. */
  afterStart(): Promise<void>
  /** Rows of deleted files and folders go. */
  purgeDeleted(): Promise<void>
  /** Bytes that no row points to go. */
  removeGarbage(): Promise<void>
  /** Drops the rows and leaves their bytes as garbage. */
  purge(files: readonly PurgeableFile[]): Promise<void>
}

export function createCleaning(db: Db, blobs: BlobStore, clock: Clock): Cleaning {
  const cleaning: Cleaning = {
    async afterStart() {
      for (const key of await listReservations(db)) {
        // The reservation ends in the transaction that brings the row in, so there is no row: the bytes are nobody's.
        if (!(await blobExists(db, key))) await blobs.remove(key)
        await db.transaction().execute((trx) => endReservation(trx, key))
      }
    },

    async purge(files) {
      const dueAt = clock.now() + GARBAGE_GRACE
      for (let at = 0; at < files.length; at += STEP) {
        await db.transaction().execute(async (trx) => {
          for (const file of files.slice(at, at + STEP)) {
            await dropFile(trx, file.id)
            await releaseBlob(trx, file.blob_id, dueAt)
          }
        })
      }
    },

    async purgeDeleted() {
      for (;;) {
        const files = await deletedFiles(db, STEP)
        if (files.length === 0) break
        await cleaning.purge(files)
      }
      while ((await dropDeletedFolders(db, STEP)) > 0) await Bun.sleep(0)
    },

    async removeGarbage() {
      for (;;) {
        const keys = await dueGarbage(db, clock.now(), STEP)
        if (keys.length === 0) break
        for (const key of keys) await blobs.remove(key)
        await forgetGarbage(db, keys)
      }
    },
  }
  return cleaning
}

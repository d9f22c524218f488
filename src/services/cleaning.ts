import type { BlobStore } from '../blobs/blob-store.ts'
import { blobExists, dueGarbage, forgetGarbage, postponeGarbage, releaseBlob } from '../database/blobs.ts'
import { deletedFiles, dropFile } from '../database/file-removal.ts'
import { dropDeletedFolders } from '../database/folders.ts'
import { endReservation, listReservations } from '../database/reservations.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, MINUTE } from '../domain/clock.ts'
import type { BlobKey, FileId } from '../domain/ids.ts'

/** A blob that nothing points to any more stays this long, for those who are still reading it. */
export const GARBAGE_GRACE = MINUTE

/** When a blob that could not be removed is tried again. */
const TRY_AGAIN = MINUTE

/** Rows go in steps, so that no transaction holds up the requests beside it. */
const STEP = 50

export interface Cleaning {
  /** Clears what a killed process left: unfinished uploads and the room they had reserved. Before serving. */
  afterStart(): Promise<void>
  /** Rows of deleted files and folders go. */
  purgeDeleted(): Promise<void>
  /** Bytes that no row points to go. */
  removeGarbage(): Promise<void>
  /** Drops the rows and leaves their bytes as garbage. */
  purge(files: readonly FileId[]): Promise<void>
}

/** SQLite answers without ever waiting, so requests get their turn only when it is given to them. */
export const letOthersIn = () => new Promise<void>((resolve) => setImmediate(resolve))

export function createCleaning(
  db: Db,
  blobs: BlobStore,
  clock: Clock,
  report: (error: unknown) => void,
): Cleaning {
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
            const blob = await dropFile(trx, file)
            if (blob !== null) await releaseBlob(trx, blob, dueAt)
          }
        })
        await letOthersIn()
      }
    },

    async purgeDeleted() {
      for (;;) {
        const files = await deletedFiles(db, STEP)
        if (files.length === 0) break
        await cleaning.purge(files)
      }
      while ((await dropDeletedFolders(db, STEP)) > 0) await letOthersIn()
    },

    async removeGarbage() {
      for (;;) {
        const keys = await dueGarbage(db, clock.now(), STEP)
        const removed = await removeEach(keys)
        await forgetGarbage(db, removed)
        const stuck = keys.filter((key) => !removed.includes(key))
        await postponeGarbage(db, stuck, clock.now() + TRY_AGAIN)
        if (keys.length < STEP) break
      }
    },
  }

  async function removeEach(keys: readonly BlobKey[]): Promise<BlobKey[]> {
    const removed: BlobKey[] = []
    for (const key of keys) {
      try {
        await blobs.remove(key)
        removed.push(key)
      } catch (error) {
        report(error)
      }
    }
    return removed
  }

  return cleaning
}

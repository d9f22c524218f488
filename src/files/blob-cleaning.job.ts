import type { BlobStore } from '../blobs/blob-store.ts'
import {
  blobExists,
  discardBlob,
  dueGarbage,
  forgetGarbage,
  GARBAGE_GRACE,
  pooledKeys,
  postponeGarbage,
  recordPooledKeys,
  releaseBlob,
} from '../core/blobs.rows.ts'
import {
  type DeadReservation,
  deadReservations,
  endReservations,
  isBeingWritten,
} from '../core/reservations.rows.ts'
import type { RemovalGuard } from '../core/store/generations.ts'
import { type Database, isPostgres } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { dropOldOutcomes } from '../database/outcomes.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, MINUTE, withPause } from '../domain/clock.ts'
import type { BlobKey, FileId } from '../domain/ids.ts'
import { dropDeletedFolders, isAnyFolderDeleted } from './folders/folder-clearing.ts'
import { deletedFiles, dropFile } from './removals.ts'

const TRY_AGAIN = MINUTE

/** Requests of a day ago are carried out or lost. */
const FORGOTTEN_AFTER = DAY

/** Rows per transaction, so that none blocks requests for long. */
const STEP = 50

/** Outcomes are small, and their deletion blocks no request. */
const MANY_OUTCOMES = 5000

type MayGoOn = () => boolean
const always: MayGoOn = () => true

export type Cleaning = ReturnType<typeof createCleaning>

/** Long work goes in steps, and stops between them when `mayGoOn` returns false. */
export function createCleaning(
  db: Database,
  blobs: Pick<BlobStore, 'removeAll' | 'size' | 'endForgotten'>,
  clock: Clock,
  report: (error: unknown) => void,
  removing: RemovalGuard = { isAllowed: async () => true },
) {
  const cleaning = {
    /** Call before serving, on a node that has just joined a database without other nodes. */
    async afterStart() {
      for (;;) {
        const dead = await deadReservations(db, STEP)
        const left: BlobKey[] = []
        for (const upload of dead) if (await endDead(upload, clock.now())) left.push(upload.key)
        await removeNow(left)
        if (dead.length < STEP) break
      }
      await removeNow(await endDrawn(db, blobs, clock.now()))
    },

    /** Leaves bytes as garbage. The delay lets a node that only stalled notice and stop writing. */
    async sweepDead(mayGoOn = always) {
      while (mayGoOn()) {
        const dead = await deadReservations(db, STEP)
        for (const upload of dead) if (mayGoOn()) await endDead(upload, clock.now() + GARBAGE_GRACE)
        if (dead.length < STEP) break
      }
    },

    /** Abandoned multipart uploads, a day after they began. */
    async endForgotten() {
      if (!(await removing.isAllowed())) return
      await blobs.endForgotten(clock.now() - FORGOTTEN_AFTER, (key) => isBeingWritten(db, key))
    },

    isAnyDead: async () => (await deadReservations(db, 1)).length > 0,

    /** Leaves bytes as garbage. */
    async purge(files: readonly FileId[], mayGoOn = always) {
      const dueAt = clock.now() + GARBAGE_GRACE
      for (let at = 0; at < files.length && mayGoOn(); at += STEP) {
        await withPause(clock.timers, () => drop(files.slice(at, at + STEP), dueAt))
      }
    },

    async purgeDeleted(mayGoOn = always) {
      while (mayGoOn()) {
        const files = await deletedFiles(db, STEP)
        if (files.length === 0) break
        await cleaning.purge(files, mayGoOn)
      }
      while (
        mayGoOn() &&
        (await withPause(clock.timers, () => dropDeletedFolders(db, STEP, clock.now()))) > 0
      );
    },

    isAnyDeleted: async () => (await deletedFiles(db, 1)).length > 0 || (await isAnyFolderDeleted(db)),

    /** Outcomes of PostgreSQL transactions, once no longer needed. */
    async forgetOutcomes(mayGoOn = always) {
      if (!isPostgres(db)) return
      while (mayGoOn() && (await dropOldOutcomes(db, MANY_OUTCOMES)) === MANY_OUTCOMES);
    },

    /** Bytes without a row. */
    async removeGarbage(mayGoOn = always) {
      while (mayGoOn() && (await removing.isAllowed())) {
        const keys = await dueGarbage(db, clock.now(), STEP)
        const removed = await blobs.removeAll(keys, report)
        await forgetGarbage(db, removed)
        const stuck = keys.filter((key) => !removed.includes(key))
        await postponeGarbage(db, stuck, clock.now() + TRY_AGAIN)
        if (keys.length < STEP) break
      }
    },
  }

  async function drop(files: readonly FileId[], dueAt: number): Promise<void> {
    await inTransaction(db, async (trx) => {
      for (const file of files) {
        const blob = await dropFile(trx, file)
        if (blob !== null) await releaseBlob(trx, blob, dueAt)
      }
    })
  }

  async function removeNow(garbage: readonly BlobKey[]): Promise<void> {
    if (await removing.isAllowed()) await forgetGarbage(db, await blobs.removeAll(garbage, report))
  }

  function endDead(upload: DeadReservation, dueAt: number): Promise<boolean> {
    const { key, account_id } = upload
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, account_id)
      // Ending the reservation decides the race: an upload that finds it gone inserts no row.
      if (!(await endReservations(trx, key)) || (await blobExists(trx, key))) return false
      await discardBlob(trx, key, dueAt)
      return true
    })
  }

  return cleaning
}

/** Returns the keys that became garbage. */
async function endDrawn(db: Database, blobs: Pick<BlobStore, 'size'>, now: number): Promise<BlobKey[]> {
  const keys = await pooledKeys(db)
  if (keys.length === 0) return []
  const sizes = await Promise.all(keys.map((key) => blobs.size(key)))
  const stored = keys.filter((_, at) => sizes[at] !== null)
  return inTransaction(db, async (trx) => {
    const left: BlobKey[] = []
    for (const key of stored) if (!(await blobExists(trx, key))) left.push(key)
    for (const key of left) await discardBlob(trx, key, now)
    await recordPooledKeys(trx, [])
    return left
  })
}

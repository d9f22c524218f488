/**
 * Which database counts for a store. Every start counts a generation up, in the database and then in the store. A copy of
 * the database from an earlier time is behind its store: it serves, and removes no bytes, which may be another's.
 */
import type { BlobStore } from '../blobs/blob-store.ts'
import { StoreFailure } from '../blobs/blob-store.ts'
import { lockMigrations } from '../database/differences.ts'
import { metaOf, setMeta } from '../database/meta.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import type { Log } from '../log.ts'
import { pairMeta } from './pairing.ts'
import { readStoreMark, writeStoreMark } from './store-mark.ts'

export interface Generations {
  readonly database: number
  readonly store: number
}

export function isBehind({ database, store }: Generations): boolean {
  return database < store
}

/** Both as they are. The store is read first: what it has of this database, the database has had before. */
export async function generationsOf(db: Db, blobs: BlobStore): Promise<Generations> {
  const store = (await readStoreMark(blobs))?.generation ?? 0
  return { database: await databaseGeneration(db), store }
}

async function databaseGeneration(db: Db): Promise<number> {
  return Number((await metaOf(db, pairMeta.generation)) ?? 0)
}

/** Counts a start, of a database that is paired with the store. One that is behind stays as it is, and so does the store. */
export async function countStart(db: Db, blobs: BlobStore): Promise<Generations> {
  return raise(db, blobs, (present) => !isBehind(present))
}

/** Makes the database the one that counts for its store. */
export function takeOver(db: Db, blobs: BlobStore): Promise<Generations> {
  return raise(db, blobs, () => true)
}

/**
 * The database first: what is interrupted in between leaves it ahead of its store, which harms nothing. Nodes that do so
 * at once take turns, and the store only ever counts up.
 */
async function raise(db: Db, blobs: BlobStore, may: (present: Generations) => boolean): Promise<Generations> {
  const refused = await inTransaction(db, async (trx) => {
    await lockMigrations(trx)
    const present = await generationsOf(trx, blobs)
    if (!may(present)) return present
    await setMeta(trx, pairMeta.generation, String(Math.max(present.database, present.store) + 1))
    return null
  })
  return (
    refused ??
    inTransaction(db, async (trx) => {
      await lockMigrations(trx)
      const generation = await databaseGeneration(trx)
      const present = await readStoreMark(blobs)
      if (present === null) throw new Error('a store that is paired has a mark')
      if (present.generation < generation) await writeStoreMark(blobs, { mark: present.mark, generation })
      return { database: generation, store: Math.max(present.generation, generation) }
    })
  )
}

/** Whether bytes may be removed. */
export interface Removing {
  /**
   * False while the database is behind its store. Found out anew every few seconds, because a database may be restored
   * while nodes run, or another copy of it started. Throws what database and store throw.
   */
  isAllowed(): Promise<boolean>
}

const FRESH_FOR = 5 * SECOND

/** `atStart` is what the start has found. That the database is behind, and that it is not any more, goes to the log. */
export function createRemoving(parts: {
  db: Db
  blobs: BlobStore
  clock: Clock
  log: Log
  atStart: Generations
}): Removing {
  const { db, blobs, clock, log, atStart } = parts
  let known = isBehind(atStart)
  let askedAt = clock.monotonic()
  if (known) tell(atStart)

  function tell(generations: Generations): void {
    log.error(
      { ...generations },
      'this database is older than what the store has seen, so it may be a copy: files are served and taken in, but no bytes are removed until "holdfast takeover"; see docs/operations/backup.md',
    )
  }

  return {
    async isAllowed() {
      const now = clock.monotonic()
      if (now - askedAt < FRESH_FOR) return !known
      const present = await generationsOf(db, blobs)
      askedAt = now
      const before = known
      known = isBehind(present)
      if (known && !before) tell(present)
      if (before && !known) log.info({ ...present }, 'this database counts for its store again')
      return !known
    },
  }
}

/** The same store, which removes nothing while that is not allowed: `remove` throws StoreFailure then. */
export function guardRemovals(blobs: BlobStore, removing: Removing): BlobStore {
  return {
    ...blobs,
    async remove(key) {
      if (await removing.isAllowed()) return blobs.remove(key)
      throw new StoreFailure('refused', {
        cause: new Error('the database is older than what the store has seen, so no bytes are removed'),
      })
    },
  }
}

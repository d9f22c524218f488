/**
 * Each start increments the generation in the database, then in the store. A database with a lower generation than its
 * store is a restored copy: it serves, but removes no bytes, which the newer one may reference.
 */
import type { BlobStore } from '../../blobs/blob-store.ts'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import { lockMigrations } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import type { Log } from '../../log.ts'
import { metaOf, setMeta } from '../meta.rows.ts'
import { type Marked, pairMeta, readStoreMark, writeStoreMark } from './pairing.ts'

export interface Generations {
  readonly database: number
  readonly store: number
}

export function isBehind({ database, store }: Generations): boolean {
  return database < store
}

/** Reads the store first: the database had each of its generations before. */
export async function generationsOf(db: Queryable, blobs: Marked): Promise<Generations> {
  const store = (await readStoreMark(blobs))?.generation ?? 0
  return { database: await databaseGeneration(db), store }
}

async function databaseGeneration(db: Queryable): Promise<number> {
  return Number((await metaOf(db, pairMeta.generation)) ?? 0)
}

/** A database that is behind its store changes nothing. */
export async function countStart(db: Database, blobs: BlobStore): Promise<Generations> {
  return raise(db, blobs, (present) => !isBehind(present))
}

/** Makes the database current, even when behind; `note` logs that in the same transaction. */
export function takeOver(
  db: Database,
  blobs: BlobStore,
  note: (trx: Trx, generation: number) => Promise<void>,
): Promise<Generations> {
  return raise(db, blobs, () => true, note)
}

/** Database first: an interruption leaves it ahead, which is harmless. Nodes are serialized; the store's only grows. */
async function raise(
  db: Database,
  blobs: BlobStore,
  may: (present: Generations) => boolean,
  note: (trx: Trx, generation: number) => Promise<void> = async () => {},
): Promise<Generations> {
  const refused = await inTransaction(db, async (trx) => {
    await lockMigrations(trx)
    const present = await generationsOf(trx, blobs)
    if (!may(present)) return present
    const next = Math.max(present.database, present.store) + 1
    await setMeta(trx, pairMeta.generation, String(next))
    await note(trx, next)
    return null
  })
  return (
    refused ??
    inTransaction(db, async (trx) => {
      await lockMigrations(trx)
      const generation = await databaseGeneration(trx)
      const present = await readStoreMark(blobs)
      if (present === null) throw new Error('the paired store has no mark')
      if (present.generation < generation) await writeStoreMark(blobs, { mark: present.mark, generation })
      return { database: generation, store: Math.max(present.generation, generation) }
    })
  )
}

export interface RemovalGuard {
  /**
   * False while the database is behind. Rechecked every few seconds: a database may be restored, or another copy
   * started, while nodes run. Throws errors of database and store.
   */
  isAllowed(): Promise<boolean>
}

const FRESH_FOR = 5 * SECOND

/** `atStart`: generations at the start. Logs when the database falls behind or catches up. */
export function createRemovalGuard(parts: {
  db: Database
  blobs: BlobStore
  clock: Clock
  log: Log
  atStart: Generations
}): RemovalGuard {
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
      if (before && !known) log.info({ ...present }, 'this database is current for its store again')
      return !known
    },
  }
}

import type { BlobStore } from '../../blobs/blob-store.ts'
import { generationsOf, isBehind } from '../../core/store/generations.ts'
import { assertOwnStore } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, DAY, SECOND, sleep, type Timers } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BlobKey } from '../../domain/ids.ts'
import { knownKeys } from './integrity.rows.ts'

const BATCH = 500
/** Between two looks: uploads in progress get their rows. */
const PATIENCE = 3 * SECOND
export const MOST_ORPHANS = 10_000

/** Keys without a row at two looks, at most `MOST_ORPHANS`. */
export async function findOrphans(db: Database, blobs: BlobStore, timers: Timers): Promise<BlobKey[]> {
  const suspects = new Set<BlobKey>()
  let batch: BlobKey[] = []
  const look = async () => {
    const known = await knownKeys(db, batch)
    for (const key of batch) if (!known.has(key)) suspects.add(key)
    batch = []
  }
  for await (const key of blobs.list()) {
    batch.push(key)
    if (batch.length === BATCH) await look()
    if (suspects.size >= MOST_ORPHANS) break
  }
  await look()
  if (suspects.size === 0) return []
  await sleep(timers, PATIENCE)
  return await stillUnknown(db, blobs, [...suspects])
}

async function stillUnknown(
  db: Database,
  blobs: Pick<BlobStore, 'size'>,
  suspects: readonly BlobKey[],
): Promise<BlobKey[]> {
  const orphans: BlobKey[] = []
  for (let at = 0; at < suspects.length; at += BATCH) {
    const keys = suspects.slice(at, at + BATCH)
    const known = await knownKeys(db, keys)
    for (const key of keys) {
      // Removed since, or incomplete: the store drops incomplete ones by itself.
      if (!known.has(key) && (await blobs.size(key)) !== null) orphans.push(key)
    }
  }
  return orphans
}

/** Younger ones may belong to an upload on another node, or to a database just restored. */
const REMOVED_AFTER = DAY

/**
 * Removes orphans stored over a day ago; returns their keys. Throws Refusal PRECONDITION_FAILED while the database is
 * older than its store: a newer one has rows for them. Throws WrongStore, and what the store throws.
 */
export async function removeOrphans(
  { db, blobs, clock }: { db: Database; blobs: BlobStore; clock: Clock },
  orphans: readonly BlobKey[],
): Promise<BlobKey[]> {
  const removed: BlobKey[] = []
  for (let at = 0; at < orphans.length; at += BATCH) {
    const keys = orphans.slice(at, at + BATCH)
    const old: BlobKey[] = []
    for (const key of keys) {
      const storedAt = await blobs.storedAt(key)
      if (storedAt !== null && storedAt < clock.now() - REMOVED_AFTER) old.push(key)
    }
    await assertOwnStore(db, blobs)
    if (isBehind(await generationsOf(db, blobs))) throw behind()
    const known = await knownKeys(db, old)
    const failures: unknown[] = []
    const unknown = old.filter((key) => !known.has(key))
    removed.push(...(await blobs.removeAll(unknown, (error) => failures.push(error))))
    if (failures.length > 0) throw failures[0]
  }
  return removed
}

function behind(): Refusal {
  return new Refusal(
    'PRECONDITION_FAILED',
    'the database is older than what its store has seen, so what belongs to no file here may belong to another database; nothing was removed (see "holdfast takeover")',
  )
}

import type { BlobStore } from '../../blobs/blob-store.ts'
import type { Database } from '../../database/database.ts'
import { SECOND } from '../../domain/clock.ts'
import type { BlobKey } from '../../domain/ids.ts'
import { knownKeys } from './integrity.rows.ts'

const BATCH = 500
/** Between the first look and the second, in which what is being stored gets its row. */
const PATIENCE = 3 * SECOND
/** Beyond that nobody reads a list. */
export const MOST_ORPHANS = 10_000

/** Keys in the store that no row refers to at two looks, at most `MOST_ORPHANS`. */
export async function findOrphans(db: Database, blobs: BlobStore): Promise<BlobKey[]> {
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
  await Bun.sleep(PATIENCE)
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
      // Removed since, or never completed: the store drops such by itself.
      if (!known.has(key) && (await blobs.size(key)) !== null) orphans.push(key)
    }
  }
  return orphans
}

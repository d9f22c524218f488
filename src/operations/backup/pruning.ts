/** Removes from a backup what no point names any more, also what killed runs have left. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { BlobKey } from '../../domain/ids.ts'
import { openRows } from '../../storage.ts'
import { makeRelocatedBlobs, relocatedAmong, rememberRelocated } from '../relocation/relocated-blobs.rows.ts'
import { contentKeys } from './backup.rows.ts'
import type { BackupStore } from './backup-store.ts'
import type { RecoveryPoint } from './catalog.ts'
import { unpackRows } from './packing.ts'
import type { Target } from './target.ts'

const BATCH = 500

/**
 * Drops all other points and what they alone name. Throws Refusal PRECONDITION_FAILED when a kept point cannot be read:
 * then nothing is dropped.
 */
export async function removeUnwanted(
  { store, catalog }: Target,
  kept: readonly RecoveryPoint[],
  scratch: string,
): Promise<void> {
  const wanted = openRows(join(scratch, 'wanted.sqlite'))
  try {
    await inTransaction(wanted, makeRelocatedBlobs)
    for (const point of kept) await rememberContents(wanted, store, point, scratch)
    await catalog.change({ points: kept, unswept: true })
    const keys: BlobKey[] = []
    const failures: unknown[] = []
    const removeBatch = async () => {
      const needed = await relocatedAmong(wanted, keys)
      await catalog.assertHeld()
      const unwanted = keys.splice(0).filter((key) => !needed.has(key))
      if (unwanted.length > 0) await store.removeAll(unwanted, (error) => failures.push(error))
    }
    for await (const key of store.list()) if (keys.push(key) === BATCH) await removeBatch()
    await removeBatch()
    if (failures.length > 0) throw failures[0]
    await catalog.change({ unswept: false })
  } finally {
    await wanted.destroy()
  }
}

async function rememberContents(
  wanted: Database,
  store: BackupStore,
  point: RecoveryPoint,
  scratch: string,
): Promise<void> {
  const path = join(scratch, 'kept.sqlite')
  await unpackRows(store, point, path)
  const rows = openRows(path)
  try {
    for await (const keys of contentKeys(rows)) await rememberRelocated(wanted, keys)
  } finally {
    await rows.destroy()
  }
  await rememberRelocated(wanted, [point.key])
  for (const name of ['', '-wal', '-shm']) await rm(path + name, { force: true })
}

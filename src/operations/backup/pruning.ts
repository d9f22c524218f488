/** Removes contents that no point names, also those of killed runs. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { DAY } from '../../domain/clock.ts'
import type { BlobKey } from '../../domain/ids.ts'
import { openRows } from '../../storage.ts'
import { reasonOf } from '../doctor/findings.ts'
import { makeRelocatedBlobs, relocatedAmong, rememberRelocated } from '../relocation/relocated-blobs.rows.ts'
import { contentKeys } from './backup.rows.ts'
import type { BackupStore } from './backup-store.ts'
import type { RecoveryPoint } from './catalog.ts'
import { RowsLost, unpackRows } from './packing.ts'
import type { Target } from './target.ts'

const BATCH = 500

export interface Pruned {
  readonly lostPoints: readonly RecoveryPoint[]
  /** The next run retries. */
  readonly unremoved: readonly string[]
}

/**
 * Drops all other points and what only they name. A point with damaged rows cannot be restored, and its contents are
 * unknown: it is dropped too and returned, so that it does not retain all others. Throws where the newest one cannot be
 * read, and StoreFailure; then nothing is dropped.
 */
export async function removeUnwanted(
  { store, rows, catalog }: Target,
  retained: readonly RecoveryPoint[],
  scratch: string,
): Promise<Pruned> {
  const wanted = openRows(join(scratch, 'wanted.sqlite'))
  try {
    await inTransaction(wanted, makeRelocatedBlobs)
    const lost = new Set<RecoveryPoint>()
    for (const point of retained) {
      await rememberContents(wanted, rows, point, scratch).catch((error: unknown) => {
        if (!(error instanceof RowsLost) || point === retained.at(-1)) throw error
        lost.add(point)
      })
    }
    await catalog.change({ points: retained.filter((point) => !lost.has(point)), unswept: true })
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
    if (failures.length === 0) await catalog.change({ unswept: false })
    return { lostPoints: [...lost], unremoved: failures.map((error) => reasonOf(error)) }
  } finally {
    await wanted.destroy()
  }
}

async function rememberContents(
  wanted: Database,
  packed: BackupStore,
  point: RecoveryPoint,
  scratch: string,
): Promise<void> {
  const path = join(scratch, 'kept.sqlite')
  await unpackRows(packed, point, path)
  const rows = openRows(path)
  try {
    for await (const keys of contentKeys(rows)) await rememberRelocated(wanted, keys)
  } finally {
    await rows.destroy()
  }
  await rememberRelocated(wanted, [point.key])
  for (const name of ['', '-wal', '-shm']) await rm(path + name, { force: true })
}

/** Keeps the newest point of each of so many days and weeks that have any. */
export interface RetentionPolicy {
  readonly daily: number
  readonly weekly: number
}

/** 1 January 1970 was a Thursday; weeks begin on Mondays, in UTC. */
const weekOf = (time: number) => Math.floor((time / DAY + 3) / 7)
const dayOf = (time: number) => Math.floor(time / DAY)

/** The oldest first. Always includes the newest. */
export function retainedPoints(
  points: readonly RecoveryPoint[],
  retention: RetentionPolicy | null,
): readonly RecoveryPoint[] {
  if (retention === null) return points
  const newestFirst = points.toSorted((a, b) => b.takenAt - a.takenAt)
  const kept = new Set(newestFirst.slice(0, 1))
  for (const [most, spanOf] of [
    [retention.daily, dayOf],
    [retention.weekly, weekOf],
  ] as const) {
    const spans = new Set<number>()
    for (const point of newestFirst) {
      const span = spanOf(point.takenAt)
      if (spans.has(span) || spans.size >= most) continue
      spans.add(span)
      kept.add(point)
    }
  }
  return points.filter((point) => kept.has(point))
}

import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { eachChunk, isUnreadable, StoreFailure } from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { DAY } from '../domain/clock.ts'
import { disposing } from '../domain/disposing.ts'
import { Refusal } from '../domain/errors.ts'
import { type BlobKey, isBlobKey } from '../domain/ids.ts'
import { openRows } from '../storage.ts'
import type { RecoveryPoint } from './backup-catalog.ts'
import type { BackupStore } from './backup-encryption.ts'
import type { Target } from './backup-place.ts'
import { makeRelocatedBlobs, relocatedAmong, rememberRelocated, sortedKeys } from './copied.rows.ts'
import { grouped, inBatches } from './walk.ts'

/** One point's rows: a SQLite file, compressed. */

export async function packRows(
  path: string,
  store: BackupStore,
  key: BlobKey,
): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = new Bun.CryptoHasher('sha256')
  const writer = await store.create(key)
  let size = 0
  try {
    await pipeline(createReadStream(path), createZstdCompress(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk)
        size += chunk.length
        await writer.write(chunk)
      }
    })
    await writer.complete()
  } catch (error) {
    await writer.abort()
    throw error
  }
  return { size, sha256: hash.digest('hex') }
}

/** The rows are damaged: the point cannot be restored. */
export class RowsLost extends Refusal {}

/** Throws RowsLost, and StoreFailure where the store is unavailable. */
export async function unpackRows(store: BackupStore, point: RecoveryPoint, path: string): Promise<void> {
  const hash = new Bun.CryptoHasher('sha256')
  async function* packed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of eachChunk(await store.read(point.key, 0, point.size, point.size))) {
      hash.update(chunk)
      // The pipeline holds several chunks.
      yield Buffer.from(chunk)
    }
  }
  try {
    await pipeline(Readable.from(packed()), createZstdDecompress(), createWriteStream(path, { mode: 0o600 }))
    if (hash.digest('hex') !== point.sha256) throw new Error('they have other bytes')
  } catch (cause) {
    if (cause instanceof StoreFailure && !isUnreadable(cause)) throw cause
    const when = new Date(point.takenAt).toISOString()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RowsLost(
      'PRECONDITION_FAILED',
      `the rows of the point ${when} cannot be read: ${reason}. Name an earlier point with --at`,
      undefined,
      { cause },
    )
  }
}

/** Removes contents that no point names, also those of killed runs. */

const BATCH = 500
const KEYS = 1000

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
  return disposing(async (open) => {
    const wanted = open.use(openRows(join(scratch, 'wanted.sqlite')))
    await inTransaction(wanted, makeRelocatedBlobs)
    const lost = new Set<RecoveryPoint>()
    for (const point of retained) {
      await rememberContents(wanted, rows, point, scratch).catch((error: unknown) => {
        if (!(error instanceof RowsLost) || point === retained.at(-1)) throw error
        lost.add(point)
      })
    }
    await catalog.change({ points: retained.filter((point) => !lost.has(point)), unswept: true })
    const failures: unknown[] = []
    for await (const blobs of grouped(store.list(), BATCH)) {
      const keys = blobs.map(({ key }) => key)
      const needed = await relocatedAmong(wanted, keys)
      await catalog.assertHeld()
      const unwanted = keys.filter((key) => !needed.has(key))
      if (unwanted.length > 0) await store.removeAll(unwanted, (error) => failures.push(error))
    }
    if (failures.length === 0) await catalog.change({ unswept: false })
    return { lostPoints: [...lost], unremoved: failures.map(firstLine) }
  })
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
}

/** In batches, ordered by key. Throws for a key that could name another object in a store. */
export async function* contentKeys(db: Database): AsyncGenerator<readonly BlobKey[]> {
  for await (const keys of inBatches((last: BlobKey | null) => sortedKeys(db, last, KEYS))) {
    const wrong = keys.find((key) => !isBlobKey(key))
    if (wrong !== undefined) throw new Error(`the backup names a content ${JSON.stringify(wrong)}`)
    yield keys
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

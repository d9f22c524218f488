/**
 * Backs up an installation beside its running servers. Contents never change, so only new ones are copied: before the rows
 * of one moment are read, and after that what these name and was not copied yet. A content is removed a minute or more
 * after its last row; if one is gone all the same before it was copied, the rows are read again.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { metaOf, setMeta } from '../../core/meta.rows.ts'
import { pairMeta } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import { migrate } from '../../database/migrate.ts'
import { inTransaction } from '../../database/transactions.ts'
import { preconditionFailed } from '../../domain/errors.ts'
import { makeBlobKey } from '../../domain/random.ts'
import { openRows, type StorageOptions } from '../../storage.ts'
import { withInstallation } from '../installation.ts'
import type { BlobCopier } from '../relocation/blob-copier.ts'
import { copyBlobs, type UncopyableBlob } from '../relocation/copy-blobs.ts'
import {
  blobsAmong,
  forgetRelocated,
  makeRelocatedBlobs,
  rememberAllBlobs,
  sumOfBlobs,
} from '../relocation/relocated-blobs.rows.ts'
import { copySnapshot } from '../relocation/row-copy.rows.ts'
import { watchedRows } from '../relocation/watched-rows.ts'
import { liesWithServer, placeName } from '../store-places.ts'
import { addCopied, listedAmong, liveFiles, makeListed, writeRows } from './backup.rows.ts'
import { addDoubted, type RecoveryPoint } from './catalog.ts'
import { startCopyThreads } from './copy-threads.ts'
import { type Durability, durabilityOf } from './durability.ts'
import { runsOf } from './own-runs.ts'
import { packRows, unpackRows } from './packing.ts'
import { removeUnwanted } from './pruning.ts'
import { type RetentionPolicy, retainedPoints } from './retention.ts'
import { makeScratch } from './scratch.ts'
import { openToWrite, presentCatalog, type Target, type TargetOptions } from './target.ts'

export type { StorePlace } from '../../config/setting-groups.ts'
export type { Outcome } from './own-runs.ts'
export type { RetentionPolicy } from './retention.ts'

export type BackupStep = 'bytes' | 'rows' | 'compare' | 'new bytes' | 'pack' | 'prune'

/** Observer of the progress. */
export interface BackupWatch {
  begin(step: BackupStep, total: { readonly count: number; readonly bytes: number }): void
  advance(done: { readonly count: number; readonly bytes: number; readonly wasThere: boolean }): void
}

export type Backup = StorageOptions &
  TargetOptions & {
    /** Null: every point is kept. */
    readonly retention: RetentionPolicy | null
    /**
     * Adds only to a backup of this installation, and begins one only where there never was one: nobody looks on, and a
     * disk may not be mounted.
     */
    readonly onlyOwn: boolean
    /** Bytes a second that are copied at most, on average; null: as fast as it goes. */
    readonly rate: number | null
    readonly watch: BackupWatch
  }

export interface BackedUp {
  readonly point: RecoveryPoint
  /** What was not in the backup before. */
  readonly copied: { readonly contents: number; readonly bytes: number }
  /** Points that were dropped. */
  readonly dropped: number
  readonly damaged: readonly UncopyableBlob[]
}

/** How often the rows are read again because a content that they name was removed meanwhile. */
const MOST_SNAPSHOTS = 5

/** Throws Refusal PRECONDITION_FAILED where there is nothing to back up, or no backup to add to. */
export async function backUp(backup: Backup): Promise<BackedUp> {
  const { config, place, rate, watch } = backup
  if (liesWithServer(place, config)) {
    throw preconditionFailed(
      `${placeName(place)} lies where the server keeps its files or their mirror: name a place of its own`,
    )
  }
  return withInstallation(backup, async ({ db }) => {
    const open = new AsyncDisposableStack()
    try {
      const mark = (await metaOf(db, pairMeta.mark)) ?? ''
      if (backup.onlyOwn) await assertOwn(backup, db, mark)
      const target = await openToWrite(backup)
      open.defer(() => target.catalog.release())
      const scratch = await makeScratch()
      open.defer(() => rm(scratch, { recursive: true, force: true }))
      const durability = await durabilityOf(place)
      const { s3, dataDir, groupRead } = config
      const { isSyncedLater } = durability
      const copier = startCopyThreads(
        { config: { s3, dataDir, groupRead }, place, key: target.key, isSyncedLater, rate },
        (bytes) => {
          durability.wrote(bytes)
          watch.advance({ count: 0, bytes, wasThere: false })
        },
      )
      open.defer(() => copier.close())
      return await addPoint({ ...backup, db, target, durability, copier, scratch, mark })
    } finally {
      await open.disposeAsync()
    }
  })
}

/** Throws Refusal PRECONDITION_FAILED. */
async function assertOwn(options: TargetOptions, db: Database, mark: string): Promise<void> {
  const name = placeName(options.place)
  const present = await presentCatalog(options)
  if (present === null) {
    const known = await runsOf(db, 'backup', name)
    if ((known?.last ?? null) === null) return
    throw preconditionFailed(
      `there is no backup in ${name} any more; is it mounted? "holdfast backup" begins a new one there`,
    )
  }
  const { installation = null, points } = present
  if (points.length === 0 || installation === null || installation === mark) return
  throw preconditionFailed(
    `${name} has the backup of another installation; after a restore or a relocation "holdfast backup" goes on with it`,
  )
}

type Run = Backup & {
  readonly db: Database
  readonly target: Target
  readonly durability: Durability
  readonly copier: BlobCopier
  /** A folder for what this run alone needs. */
  readonly scratch: string
  /** Of the pair of database and store. */
  readonly mark: string
}

async function addPoint(run: Run): Promise<BackedUp> {
  const { target, durability, retention, watch, random, scratch, mark } = run
  const copied = { contents: 0, bytes: 0 }
  const memory = await rememberLast(run)
  try {
    watch.begin('bytes', await sumOfBlobs(run.db))
    await copyContents(run, run.db, memory, copied)
    await addCopied(memory)
    const { file, damaged, ...taken } = await takeSnapshot(run, memory, copied)
    watch.begin('pack', { count: 0, bytes: 0 })
    const key = makeBlobKey(random)
    const point = { ...taken, key, damaged: damaged.length, ...(await packRows(file, target.store, key)) }
    await durability.settle()
    const points = [...target.catalog.present.points, point]
    // What is damaged still is looked at again by the next run.
    const doubted = addDoubted(
      [],
      damaged.map((each) => each.key),
    )
    await target.catalog.change({ points, installation: mark, doubted })
    const kept = retainedPoints(points, retention)
    const dropped = points.length - kept.length
    if (dropped > 0 || (retention !== null && target.catalog.present.unswept)) {
      watch.begin('prune', { count: 0, bytes: 0 })
      await removeUnwanted(target, kept, scratch)
    }
    return { point, copied, dropped, damaged }
  } catch (error) {
    await durability.removeLost(target.store)
    throw error
  } finally {
    await memory.destroy()
  }
}

/**
 * Opens a database that remembers the contents of the last point, which need not be copied again, and what the backup
 * lists: what is in neither was never copied, and what is in only one of them is looked at.
 */
async function rememberLast({ target, scratch }: Run): Promise<Database> {
  const last = target.catalog.present.points.at(-1)
  const path = join(scratch, 'copied.sqlite')
  const isKnown =
    last !== undefined &&
    (await unpackRows(target.store, last, path).then(
      () => true,
      // Without it each content is compared with the copy that the backup has, if there is one.
      () => rm(path, { force: true }).then(() => false),
    ))
  const memory = openRows(path)
  await inTransaction(memory, makeRelocatedBlobs)
  const { doubted = [] } = target.catalog.present
  if (isKnown && doubted !== 'all') {
    await rememberAllBlobs(memory)
    await forgetRelocated(memory, doubted)
  }
  await makeListed(memory, target.store.list())
  return memory
}

/** Copies the contents that the rows name and the memory does not. */
function copyContents(
  { copier, durability, signal, watch }: Run,
  rows: Database,
  memory: Database,
  copied: { contents: number; bytes: number },
): Promise<UncopyableBlob[]> {
  return copyBlobs({
    rows,
    memory,
    copier: copier,
    listed: (keys) => listedAmong(memory, keys),
    signal,
    onBlob({ key, size }, wasThere) {
      watch.advance({ count: 1, bytes: wasThere ? size : 0, wasThere })
      if (wasThere) return
      copied.contents++
      copied.bytes += size
      durability.copied(key)
    },
  })
}

interface Taken extends Pick<RecoveryPoint, 'takenAt' | 'files' | 'contents' | 'bytes'> {
  /** Holds the rows. */
  readonly file: string
  readonly damaged: readonly UncopyableBlob[]
}

async function takeSnapshot(
  run: Run,
  memory: Database,
  copied: { contents: number; bytes: number },
): Promise<Taken> {
  const { db, clock, scratch, watch } = run
  for (let tries = 1; ; tries++) {
    const path = join(scratch, `point-${tries}.sqlite`)
    const taken = await withRows(path, async (rows) => {
      const takenAt = clock.now()
      await copyRowsInto(run, rows)
      const sum = await sumOfBlobs(rows)
      watch.begin('new bytes', sum)
      const damaged = await copyContents(run, rows, memory, copied)
      const there = await blobsAmong(
        db,
        damaged.map(({ key }) => key),
      )
      if (damaged.some(({ key }) => !there.has(key))) return null
      const file = join(scratch, 'point')
      await writeRows(rows, file)
      return { takenAt, files: await liveFiles(rows), contents: sum.count, bytes: sum.bytes, file, damaged }
    })
    if (taken !== null) return taken
    await rm(path)
    if (tries === MOST_SNAPSHOTS) {
      throw preconditionFailed(
        'files were removed faster than they could be copied; run it again when less is deleted',
      )
    }
  }
}

async function withRows<T>(path: string, work: (rows: Database) => Promise<T>): Promise<T> {
  const rows = openRows(path)
  try {
    return await work(rows)
  } finally {
    await rows.destroy()
  }
}

async function copyRowsInto(run: Run, rows: Database): Promise<void> {
  const { db, target } = run
  await migrate(rows)
  await copySnapshot({
    from: db,
    to: rows,
    ownMeta: Object.values(pairMeta),
    sameStore: false,
    onRows: await watchedRows(db, { sameStore: false }, run),
  })
  // A restore that was killed recognizes by it what it has begun to fill.
  const { mark } = target.catalog.present
  await inTransaction(rows, async (trx) => {
    await setMeta(trx, pairMeta.mark, mark)
    await setMeta(trx, pairMeta.marked, mark)
  })
}

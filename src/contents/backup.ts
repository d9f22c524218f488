/**
 * Backs up an installation while its servers run. Contents never change, so only new ones are copied: first before the
 * snapshot of the rows, then those of the snapshot still missing. A content is removed a minute or more after its last
 * row; if one disappears all the same, the rows are read again.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorePlace } from '../config.ts'
import { metaOf, setMeta } from '../core/meta.rows.ts'
import { pairMeta } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { inTransaction } from '../database/transactions.ts'
import { disposing } from '../domain/disposing.ts'
import { preconditionFailed, type Refusal } from '../domain/errors.ts'
import { makeBlobKey } from '../domain/random.ts'
import { openRows, type StorageOptions } from '../storage.ts'
import { addDoubted, type HeldCatalog, type RecoveryPoint } from './backup-catalog.ts'
import {
  assertNotOlder,
  isBegun,
  openToWrite,
  type Seen,
  seenOf,
  setSeen,
  type Target,
  type TargetOptions,
} from './backup-place.ts'
import {
  type Pruned,
  packRows,
  type RetentionPolicy,
  removeUnwanted,
  retainedPoints,
  unpackRows,
} from './backup-points.ts'
import { contentTotals } from './contents.rows.ts'
import {
  addCopied,
  blobsAmong,
  forgetRelocated,
  forgetUnlikeListed,
  listedAmong,
  liveFiles,
  makeListed,
  makeRelocatedBlobs,
  rememberAllBlobs,
  writeRows,
} from './copied.rows.ts'
import { addressOf } from './copy-threads.ts'
import {
  type Copies,
  copyEveryRow,
  durabilityOf,
  type Filled,
  noteListed,
  type UncopyableBlob,
  withCopies,
} from './copying.ts'
import { type MarkState, makeSeries } from './mark-copies.ts'
import { copySnapshot } from './row-copy.rows.ts'
import { makeScratch } from './scratch.ts'
import { isOnDiskOf, liesWithServer, placeName, withInstallation } from './store-places.ts'
import type { Watch } from './walk.ts'

export type { TargetOptions } from './backup-place.ts'
export type { RetentionPolicy } from './backup-points.ts'
export type { Outcome } from './own-backups.ts'

export type BackupStep = 'bytes' | 'rows' | 'compare' | 'new bytes' | 'pack' | 'prune'

export type Backup = StorageOptions &
  TargetOptions & {
    readonly retention: RetentionPolicy | null
    /** Only to a backup of this installation, or where there never was one: a disk may not be mounted. */
    readonly onlyOwn: boolean
    /** Continues any backup in a new series, also where a catalog was lost. */
    readonly newSeries: boolean
    /** Bytes a second. */
    readonly rate: number | null
    readonly watch: Watch<BackupStep>
  }

export interface BackedUp extends Pruned {
  readonly point: RecoveryPoint
  readonly copied: { readonly contents: number; readonly bytes: number }
  readonly dropped: number
  readonly damaged: readonly UncopyableBlob[]
  readonly catalog: MarkState
  readonly isNewSeries: boolean
  readonly isOnDataDisk: boolean
}

const MOST_SNAPSHOTS = 5

/** Throws Refusal PRECONDITION_FAILED where there is nothing to back up, or no backup to add to. */
export async function backUp(backup: Backup): Promise<BackedUp> {
  const { config, place, rate } = backup
  if (liesWithServer(place, config)) {
    throw preconditionFailed(
      `${placeName(place)} lies where the server keeps its files or their mirror: name a place of its own`,
    )
  }
  return withInstallation(backup, async ({ db }) => {
    const mark = (await metaOf(db, pairMeta.mark)) ?? ''
    const known = await seenOf(db, place)
    if (known !== null && !backup.newSeries && !(await isBegun(backup))) throw gone(place)
    return disposing(async (open) => {
      const target = open.use(await openToWrite(backup, { replacesLost: backup.newSeries }))
      const { store, catalog } = target
      const isNewSeries = opensSeries(backup, catalog, { known, mark })
      const isRemote = config.s3 !== null && config.databaseUrl !== null
      const isOnDataDisk = !isRemote && (await isOnDiskOf(config.dataDir, place))
      const scratch = open.use(await makeScratch())
      const filled = { to: store, durability: await durabilityOf(place) }
      const order = {
        from: addressOf(config),
        to: { kind: 'place', place, key: catalog.key },
        goesOn: true,
        // The store's sync and checksum suffice, and the drill reads back.
        readsBack: false,
        rate,
      } as const
      const run = { ...backup, ...filled, db, target, scratch: scratch.path, mark, isNewSeries, isOnDataDisk }
      return await withCopies(order, filled, backup, (copies) => addPoint({ ...run, copies }))
    })
  })
}

function gone(place: StorePlace): Refusal {
  return preconditionFailed(
    `there is no backup in ${placeName(place)} any more; is it mounted? "holdfast backup --new-series" begins a new one there`,
  )
}

/**
 * Whether this run begins a new series: in an empty place, after a restore or a relocation, or on request. Throws
 * Refusal PRECONDITION_FAILED for a catalog that it must not extend.
 */
function opensSeries(
  { place, onlyOwn, newSeries }: Backup,
  { present }: HeldCatalog,
  { known, mark }: { readonly known: Seen | null; readonly mark: string },
): boolean {
  if (newSeries) return true
  assertNotOlder(place, present, known)
  const { installation } = present
  if (installation === null) return known === null
  if (installation === mark) return false
  if (!onlyOwn) return true
  throw preconditionFailed(
    `${placeName(place)} has the backup of another installation; after a restore or a relocation "holdfast backup" goes on with it`,
  )
}

type Run = Backup &
  Filled & {
    readonly db: Database
    readonly target: Target
    readonly copies: Copies
    readonly scratch: string
    readonly mark: string
    readonly isNewSeries: boolean
    readonly isOnDataDisk: boolean
  }

async function addPoint(run: Run): Promise<BackedUp> {
  const { target, durability, retention, watch, random, scratch, mark, db, place } = run
  const { isNewSeries, isOnDataDisk } = run
  const { catalog } = target
  // Record before writing: a kill in between leaves either series in the place.
  const opening = isNewSeries ? (catalog.isNew ? catalog.present.series : makeSeries(random)) : null
  const remember = (number: number, series: string, next: string | null) =>
    setSeen(db, place, { series, number, opening: next, isOnDataDisk })
  const before = opening === null ? null : await seenOf(db, place)
  const { number: known, series: had } = before ?? catalog.present
  await remember(known, had, opening)
  return disposing(async (open) => {
    const memory = open.use(await rememberLast(run))
    watch.begin('bytes', await contentTotals(db))
    await copyContents(run, db, memory)
    await addCopied(memory)
    const { file, damaged, ...taken } = await takeSnapshot(run, memory)
    watch.begin('pack', { count: 0, bytes: 0 })
    const key = makeBlobKey(random)
    const point = { ...taken, key, damaged: damaged.length, ...(await packRows(file, target.rows, key)) }
    await durability.settle()
    const points = [...catalog.present.points, point]
    const doubted = addDoubted(
      [],
      damaged.map((each) => each.key),
    )
    await catalog.change({
      points,
      installation: mark,
      doubted,
      ...(opening === null ? {} : { series: opening }),
    })
    const { series } = catalog.present
    await remember(catalog.present.number, series, null)
    const kept = retainedPoints(points, retention)
    const dropped = points.length - kept.length
    let pruned: Pruned = { lostPoints: [], unremoved: [] }
    if (dropped > 0 || (retention !== null && catalog.present.unswept)) {
      watch.begin('prune', { count: 0, bytes: 0 })
      pruned = await removeUnwanted(target, kept, scratch)
      await remember(catalog.present.number, series, null)
    }
    const { number } = catalog.present
    return {
      point,
      copied: run.copies.copied,
      dropped,
      damaged,
      ...pruned,
      catalog: { series, number },
      isNewSeries,
      isOnDataDisk,
    }
  })
}

/**
 * A database of the last point's contents, which need no copy, and of what the backup lists. A content in neither was
 * never copied; one in only one of them is checked.
 */
async function rememberLast({ target, scratch }: Run): Promise<Database> {
  const last = target.catalog.present.points.at(-1)
  const path = join(scratch, 'copied.sqlite')
  const isKnown =
    last !== undefined &&
    (await unpackRows(target.rows, last, path).then(
      () => true,
      // Without the last point, each content is compared with the backup's copy, if there is one.
      () => rm(path, { force: true }).then(() => false),
    ))
  const memory = openRows(path)
  await inTransaction(memory, makeRelocatedBlobs)
  const { doubted } = target.catalog.present
  if (isKnown && doubted !== 'all') {
    await rememberAllBlobs(memory)
    await forgetRelocated(memory, doubted)
  }
  await makeListed(memory)
  await noteListed(memory, target.store.list())
  if (isKnown) await forgetUnlikeListed(memory)
  return memory
}

function copyContents({ copies }: Run, rows: Database, memory: Database): Promise<UncopyableBlob[]> {
  return copies.copy({ rows, memory, listed: (keys) => listedAmong(memory, keys) })
}

interface Taken extends Pick<RecoveryPoint, 'takenAt' | 'files' | 'contents' | 'bytes'> {
  readonly file: string
  readonly damaged: readonly UncopyableBlob[]
}

async function takeSnapshot(run: Run, memory: Database): Promise<Taken> {
  const { scratch } = run
  for (let tries = 1; tries <= MOST_SNAPSHOTS; tries++) {
    const path = join(scratch, `point-${tries}.sqlite`)
    const taken = await readPoint(run, memory, path)
    if (taken !== null) return taken
    await rm(path)
  }
  throw preconditionFailed(
    'files were removed faster than they could be copied; run it again when less is deleted',
  )
}

/** Null where a content that the rows name was removed meanwhile. */
async function readPoint(run: Run, memory: Database, path: string): Promise<Taken | null> {
  const { db, clock, scratch, watch } = run
  return disposing(async (open) => {
    const rows = open.use(openRows(path))
    const takenAt = clock.now()
    await copyRowsInto(run, rows)
    const { count: contents, bytes } = await contentTotals(rows)
    watch.begin('new bytes', { count: contents, bytes })
    const damaged = await copyContents(run, rows, memory)
    const keys = damaged.map(({ key }) => key)
    const there = await blobsAmong(db, keys)
    if (keys.some((key) => !there.has(key))) return null
    const file = join(scratch, 'point')
    await writeRows(rows, file)
    return { takenAt, files: await liveFiles(rows), contents, bytes, file, damaged }
  })
}

async function copyRowsInto(run: Run, rows: Database): Promise<void> {
  const { db, target } = run
  await migrate(rows)
  await copyEveryRow(copySnapshot, { from: db, to: rows, sameStore: false }, run)
  // A killed restore recognizes by this mark what it has begun to fill.
  const { mark } = target.catalog.present
  await inTransaction(rows, async (trx) => {
    await setMeta(trx, pairMeta.mark, mark)
    await setMeta(trx, pairMeta.marked, mark)
  })
}

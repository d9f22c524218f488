import { join } from 'node:path'
import type { StorePlace } from '../config.ts'
import { metaOf } from '../core/meta.rows.ts'
import { pairMeta } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import { isBlank } from '../database/migrate.ts'
import { disposing } from '../domain/disposing.ts'
import { preconditionFailed } from '../domain/errors.ts'
import { connect, holdDataFolder, openBlobs, openRows, type StorageOptions } from '../storage.ts'
import { addDoubted, type HeldCatalog, type RecoveryPoint } from './backup-catalog.ts'
import { assertAtLeast, openToRead, type TargetOptions } from './backup-place.ts'
import { contentKeys, unpackRows } from './backup-points.ts'
import type { UncopyableBlob } from './copying.ts'
import { type RepairBlob, repairFromCopy } from './damage.ts'
import type { MarkState } from './mark-copies.ts'
import { moveInstallation, type Origin, type RelocationStep } from './relocation.ts'
import { holdsNothing } from './row-copy.rows.ts'
import { makeScratch } from './scratch.ts'
import type { Watch } from './walk.ts'

export type { RecoveryPoint } from './backup-catalog.ts'

export type Restoring = StorageOptions &
  TargetOptions & {
    /** The newest point up to this time, in milliseconds; null: the newest. */
    readonly at: number | null
    /** Required series and lowest number of the catalog; null: any. */
    readonly atLeast: MarkState | null
    /** Called before anything is restored. */
    readonly onFound: (found: FoundBackup) => void
    readonly watch: Watch<RelocationStep>
  }

export interface FoundBackup extends MarkState {
  readonly points: number
  readonly newest: number | null
  /** False without a passphrase: write access to the place suffices to change all of it. */
  readonly isAuthenticated: boolean
}

export interface Restored {
  readonly point: RecoveryPoint
  /** Missing or damaged in the backup: their files are restored without bytes. */
  readonly damaged: readonly UncopyableBlob[]
  readonly found: FoundBackup
}

/** The oldest first. Throws Refusal PRECONDITION_FAILED without a backup. */
export async function pointsOf(
  options: TargetOptions & Partial<Pick<Restoring, 'atLeast' | 'onFound'>>,
): Promise<readonly RecoveryPoint[]> {
  return disposing(async (open) => {
    const target = open.use(await openToRead(options))
    const { catalog } = target
    const found = foundIn(catalog)
    options.onFound?.(found)
    assertAtLeast(found, options.atLeast ?? null)
    return catalog.present.points
  })
}

/**
 * Fills the configured database and store, comparing each content with its hash. A killed restore continues when run
 * again. Throws Refusal PRECONDITION_FAILED for a place that is not empty, and DataFolderInUse.
 */
export async function restore(restoring: Restoring): Promise<Restored> {
  const { config, at, atLeast, onFound } = restoring
  return disposing(async (open) => {
    const backup = open.use(await openToRead(restoring))
    const { catalog } = backup
    const found = foundIn(catalog)
    onFound(found)
    assertAtLeast(found, atLeast)
    const point = catalog.present.points.findLast(({ takenAt }) => at === null || takenAt <= at)
    if (point === undefined) {
      throw preconditionFailed('the backup has no point that is so old; "--points" lists them')
    }
    const scratch = open.use(await makeScratch())
    const path = join(scratch.path, 'point.sqlite')
    await unpackRows(backup.rows, point, path)
    const rows = open.use(openRows(path))
    await assertKeys(rows)

    open.defer(await holdDataFolder(config))
    const { db, isShared, close } = await connect({ ...restoring, report() {} })
    open.defer(close)
    await assertEmpty(db)
    const { damaged } = await moveInstallation({
      ...restoring,
      source: originOf(rows, catalog, restoring.place),
      target: { db, isShared, blobs: await openBlobs(restoring, false) },
      skipDamaged: true,
      movedTo: null,
    })
    if (damaged.length > 0) {
      const keys = damaged.map(({ key }) => key)
      await catalog.change({ doubted: addDoubted(catalog.present.doubted, keys) })
    }
    return { point, damaged, found }
  })
}

function foundIn({ present, key }: HeldCatalog): FoundBackup {
  const { series, number, points } = present
  const newest = points.at(-1)?.takenAt ?? null
  return { series, number, points: points.length, newest, isAuthenticated: key !== null }
}

/** A forged backup must not name objects that are no contents. */
async function assertKeys(rows: Database): Promise<void> {
  for await (const _ of contentKeys(rows));
}

async function assertEmpty(db: Database): Promise<void> {
  if ((await isBlank(db)) || (await holdsNothing(db))) return
  if ((await metaOf(db, pairMeta.relocating)) !== null) return
  throw preconditionFailed(
    'the database that is configured is not empty: a backup is restored into an empty data folder, or an empty database and an empty bucket. Name those in the settings',
  )
}

function originOf(db: Database, { present: { mark }, key }: HeldCatalog, place: StorePlace): Origin {
  return {
    db,
    isShared: false,
    blobs: {
      readMark: async () => mark,
      writeMark: () => Promise.reject(new Error('a backup has no mark of a store')),
    },
    address: { kind: 'place', place, key },
  }
}

/** Brings single contents back from a backup, for `check --from`. */
export interface BackupRepair {
  readonly repair: RepairBlob
  close(): Promise<void>
}

export async function openBackupRepair(options: TargetOptions): Promise<BackupRepair> {
  const { store, catalog } = await openToRead(options)
  return {
    async repair(parts, { content }) {
      return (await repairFromCopy({ from: store, fromKey: content.key }, content, parts)) === 'repaired'
    },
    close: () => catalog.release(),
  }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StorePlace } from '../../config/setting-groups.ts'
import type { Clock } from '../../domain/clock.ts'
import { preconditionFailed } from '../../domain/errors.ts'
import type { Random } from '../../domain/random.ts'
import { openPlace, StoreUnusable } from '../../storage.ts'
import { COPIES, type CopyFault } from '../mark-copies.ts'
import { holdsOtherThings, inSettingsOf, placeName } from '../store-places.ts'
import type { BackupStore } from './backup-store.ts'
import { type HeldCatalog, hasCatalog, holdCatalog } from './catalog.ts'
import { CatalogLost, CatalogReader } from './catalog-copies.ts'
import { type BackupKey, encrypted, makeKey } from './encryption.ts'

export interface TargetOptions {
  readonly place: StorePlace
  readonly passphrase: string | null
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  readonly onWait: () => void
  readonly onFault: (fault: CopyFault) => void
}

export interface Target {
  readonly store: BackupStore
  readonly rows: BackupStore
  readonly catalog: HeldCatalog
}

/**
 * Opens a backup to add to it; creates one in an empty place. `replacesLost`: also where its catalog is lost. Throws
 * Refusal PRECONDITION_FAILED for anything but a backup.
 */
export async function openToWrite(
  options: TargetOptions,
  { replacesLost }: { readonly replacesLost: boolean },
): Promise<Target> {
  await assertNothingElse(options.place)
  const { passphrase } = options
  const make = async () => (passphrase === null ? null : await makeKey(passphrase))
  return held(options, await opened(options), make, replacesLost)
}

/** Whether a backup is or was there, even an unusable one. Neither waits for a lease nor writes. */
export async function isBegun({ place, random }: Pick<TargetOptions, 'place' | 'random'>): Promise<boolean> {
  if (place.kind === 'folder' && !COPIES.some((copy) => existsSync(join(place.path, copy)))) return false
  return hasCatalog(await opened({ place, random }))
}

/** Throws Refusal PRECONDITION_FAILED where there is none. */
export async function openToRead(options: TargetOptions): Promise<Target> {
  const { place } = options
  if (place.kind === 'folder' && !existsSync(place.path)) throw noBackup(place)
  await assertNothingElse(place)
  const store = await opened(options)
  if (!(await hasCatalog(store))) throw noBackup(place)
  return held(options, store, async () => null, false)
}

/** Throws Refusal PRECONDITION_FAILED, naming the backup's settings, for an unusable store. */
async function opened({ place, random }: Pick<TargetOptions, 'place' | 'random'>): Promise<BackupStore> {
  try {
    return await openPlace(place, random)
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error
    throw preconditionFailed(`the backup ${placeName(place)}: ${inSettingsOf('backup', error.message)}`)
  }
}

async function held(
  options: TargetOptions,
  store: BackupStore,
  make: () => Promise<BackupKey | null>,
  replacesLost: boolean,
): Promise<Target> {
  const reader = new CatalogReader(store, options.passphrase)
  const catalog = await holdCatalog({ ...options, store, reader, makeKey: make, replacesLost }).catch(
    (error: unknown) => {
      if (!(error instanceof CatalogLost)) throw error
      throw preconditionFailed(
        `${error.message}. Name a folder or bucket of its own, or put the catalog back (docs/operations/disaster.md); "holdfast backup --new-series" begins a new one there`,
      )
    },
  )
  for (const fault of catalog.faults) options.onFault(fault)
  const { key } = catalog
  if (key === null) return { store, rows: store, catalog }
  return { store: encrypted(store, key, 'content'), rows: encrypted(store, key, 'rows'), catalog }
}

function noBackup(place: StorePlace): Error {
  return preconditionFailed(`there is no backup in ${placeName(place)}`)
}

/** A folder with other files is a mistake. */
async function assertNothingElse(place: StorePlace): Promise<void> {
  if (place.kind === 's3' || !(await holdsOtherThings(place.path))) return
  throw preconditionFailed(
    `there are other things in ${place.path}: name an empty folder, or one that does not exist yet`,
  )
}

/** The place of a backup, opened for one run alone. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StorePlace } from '../../config/setting-groups.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Random } from '../../domain/random.ts'
import { openPlace } from '../../storage.ts'
import { holdsOtherThings, placeName } from '../store-places.ts'
import type { BackupStore } from './backup-store.ts'
import { type Catalog, type HeldCatalog, holdCatalog, readCatalog } from './catalog.ts'
import { encrypted, makeKey, unlockKey } from './encryption.ts'

export interface TargetOptions {
  readonly place: StorePlace
  /** Null: the backup is not encrypted. */
  readonly passphrase: string | null
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  /** Called when another run on this backup has to end first. */
  readonly onWait: () => void
}

export interface Target {
  readonly store: BackupStore
  /** What its contents are encrypted with; null: they are not. */
  readonly key: string | null
  readonly catalog: HeldCatalog
}

/** Opens a backup to add to it, creating it where nothing is. Throws Refusal PRECONDITION_FAILED for what is no backup. */
export async function openToWrite(options: TargetOptions): Promise<Target> {
  const { place, passphrase } = options
  await assertNothingElse(place)
  const store = await openPlace(place, options.random)
  const catalog = await holdCatalog({ ...options, store })
  const { lockedKey, points } = catalog.present
  try {
    if (lockedKey === null && passphrase !== null && points.length === 0) {
      const made = await makeKey(passphrase)
      await catalog.change({ lockedKey: made.lockedKey })
      return { ...(await keyed(store, made.key)), catalog }
    }
    return { ...(await keyed(store, await unlocked(lockedKey, passphrase))), catalog }
  } catch (error) {
    await catalog.release()
    throw error
  }
}

/** What a place has, without waiting for others and without writing; null where there is no backup. */
export async function presentCatalog({ place, random }: TargetOptions): Promise<Catalog | null> {
  if (place.kind === 'folder' && !existsSync(join(place.path, 'mark'))) return null
  return readCatalog(await openPlace(place, random))
}

/** Opens a backup to read it. Throws Refusal PRECONDITION_FAILED where there is none. */
export async function openToRead(options: TargetOptions): Promise<Target> {
  const { place, passphrase, random } = options
  if (place.kind === 'folder' && !existsSync(place.path)) throw noBackup(place)
  await assertNothingElse(place)
  const store = await openPlace(place, random)
  if ((await readCatalog(store)) === null) throw noBackup(place)
  const catalog = await holdCatalog({ ...options, store })
  try {
    return { ...(await keyed(store, await unlocked(catalog.present.lockedKey, passphrase))), catalog }
  } catch (error) {
    await catalog.release()
    throw error
  }
}

function noBackup(place: StorePlace): Refusal {
  return new Refusal('PRECONDITION_FAILED', `there is no backup in ${placeName(place)}`)
}

/** A folder with other things in it is taken by mistake. */
async function assertNothingElse(place: StorePlace): Promise<void> {
  if (place.kind === 's3' || !(await holdsOtherThings(place.path))) return
  throw new Refusal(
    'PRECONDITION_FAILED',
    `there are other things in ${place.path}: name an empty folder, or one that does not exist yet`,
  )
}

async function keyed(store: BackupStore, key: string | null): Promise<Pick<Target, 'store' | 'key'>> {
  return { store: key === null ? store : await encrypted(store, key), key }
}

/** The key of the backup; null where it is not encrypted. */
async function unlocked(lockedKey: string | null, passphrase: string | null): Promise<string | null> {
  if (lockedKey === null && passphrase === null) return null
  if (lockedKey === null) {
    throw new Refusal(
      'PRECONDITION_FAILED',
      'this backup is not encrypted: leave the passphrase out, or begin another backup with it',
    )
  }
  if (passphrase === null) {
    throw new Refusal(
      'PRECONDITION_FAILED',
      'this backup is encrypted: name the file with its passphrase in HOLDFAST_BACKUP_PASSPHRASE_FILE',
    )
  }
  return unlockKey(lockedKey, passphrase)
}

import { existsSync } from 'node:fs'
import * as z from 'zod/mini'
import type { StorePlace } from '../config.ts'
import { metaOf, setMeta } from '../core/meta.rows.ts'
import type { Database, Queryable } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { preconditionFailed } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'
import { openPlace, StoreUnusable } from '../storage.ts'
import {
  type Catalog,
  CatalogLost,
  CatalogReader,
  type HeldCatalog,
  hasCatalog,
  holdCatalog,
} from './backup-catalog.ts'
import { type BackupKey, type BackupStore, encrypted, makeKey, type Role } from './backup-encryption.ts'
import { type CopyFault, type MarkState, stateName } from './mark-copies.ts'
import { holdsOtherThings, inSettingsOf, isUnmarkedFolder, placeName } from './store-places.ts'

export interface TargetOptions {
  readonly place: StorePlace
  readonly passphrase: string | null
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  readonly onWait: () => void
  readonly onFault: (fault: CopyFault) => void
}

/** Releases its catalog when disposed. */
export interface Target extends AsyncDisposable {
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
  return !isUnmarkedFolder(place) && hasCatalog(await opened({ place, random }))
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
  const sealed = (role: Role) => (key === null ? store : encrypted(store, key, role))
  const [contents, rows] = [sealed('content'), sealed('rows')]
  return { store: contents, rows, catalog, [Symbol.asyncDispose]: () => catalog.release() }
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

/** The last catalog seen in each place: an older or foreign one is refused. */

const seen = z.object({
  series: z.string(),
  number: z.int(),
  /** A series about to begin there: a kill may have come before or after. */
  opening: z.nullable(z.string()),
  isOnDataDisk: z.boolean(),
})
export type Seen = z.infer<typeof seen>

const keyOf = (place: string) => `backup_seen ${place}`

/** Null before the first backup there. */
export async function seenOf(db: Queryable, place: StorePlace): Promise<Seen | null> {
  const text = await metaOf(db, keyOf(placeName(place)))
  return text === null ? null : seen.parse(JSON.parse(text))
}

export async function setSeen(db: Database, place: StorePlace, now: Seen): Promise<void> {
  await inTransaction(db, (trx) => setMeta(trx, keyOf(placeName(place)), JSON.stringify(now)))
}

/** Throws Refusal PRECONDITION_FAILED for a catalog older than the last one seen, or of another series. */
export function assertNotOlder(place: StorePlace, present: Catalog, known: Seen | null): void {
  if (known === null || present.series === known.opening) return
  const name = placeName(place)
  const [there, had] = [stateName(present), stateName(known)]
  const goesOn =
    'Where that is meant, "holdfast backup --new-series" goes on with what is there; otherwise bring back what was there before (docs/operations/disaster.md)'
  if (present.series !== known.series) {
    throw preconditionFailed(
      `${name} has another backup than this installation made there: its catalog is ${there}, and ${had} was seen before. ${goesOn}`,
    )
  }
  if (present.number < known.number) {
    throw preconditionFailed(
      `${name} has an older state of the backup than this installation has seen: its catalog is ${there}, and ${had} was seen before. ${goesOn}`,
    )
  }
}

/** Throws Refusal PRECONDITION_FAILED for a catalog older than required, or of another series. */
export function assertAtLeast(present: MarkState, least: MarkState | null): void {
  if (least === null) return
  if (present.series === least.series && present.number >= least.number) return
  throw preconditionFailed(
    `the catalog that was found is ${stateName(present)}, and it has to be ${stateName(least)} at least: somebody has put an older backup or another one in its place`,
  )
}

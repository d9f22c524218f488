/** Where stores lie, and the configured one opened beside running servers. */
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config, StorePlace } from '../config.ts'
import { assertPaired, type Installation } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import { missingMigrations } from '../database/migrate.ts'
import { preconditionFailed } from '../domain/errors.ts'
import { connect, databaseExists, openBlobs, type StorageOptions } from '../storage.ts'
import { COPIES } from './mark-copies.ts'

export function placeName(place: StorePlace): string {
  return place.kind === 'folder' ? place.path : `${place.s3.endpoint}/${place.s3.bucket}`
}

/** Renames settings in a message of the primary store to those of the backup or the mirror. */
export function inSettingsOf(of: 'backup' | 'mirror', message: string): string {
  const prefix = `HOLDFAST_${of.toUpperCase()}`
  return message
    .replaceAll(/HOLDFAST_S3_(?:ENDPOINT|BUCKET)/g, prefix)
    .replaceAll('HOLDFAST_S3_', `${prefix}_S3_`)
    .replaceAll(`${prefix} and ${prefix}`, prefix)
}

/** Whether a folder contains anything but a store: then it was named by mistake. */
export async function holdsOtherThings(folder: string): Promise<boolean> {
  if (!existsSync(folder)) return false
  const names = await readdir(folder)
  if (COPIES.some((copy) => names.includes(copy))) return false
  return !names.every((name) => /^([0-9a-f]{2}|tmp|resumable|lost\+found)$/.test(name))
}

/** A look at an unmounted folder must not create a store there. */
export function isUnmarkedFolder(place: StorePlace): boolean {
  return place.kind === 'folder' && !COPIES.some((copy) => existsSync(join(place.path, copy)))
}

export async function holdsBlobs(store: Pick<BlobStore, 'list'>): Promise<boolean> {
  for await (const _ of store.list()) return true
  return false
}

/** Whether the place would be lost together with the server's data, or with its mirror. */
export function liesWithServer(place: StorePlace, { dataDir, s3, mirror }: Config): boolean {
  const data: StorePlace = { kind: 'folder', path: dataDir }
  const taken = [
    data,
    ...(s3 === null ? [] : [{ kind: 's3', s3 } as const]),
    ...(mirror ? [mirror.place] : []),
  ]
  return taken.some((its) => isInside(place, its))
}

/** Whether losing the folder's disk loses the place too. */
export async function isOnDiskOf(folder: string, place: StorePlace): Promise<boolean> {
  if (place.kind !== 'folder') return false
  const [its, other] = await Promise.all([stat(place.path), stat(folder)])
  return its.dev === other.dev
}

function isInside(inner: StorePlace, outer: StorePlace): boolean {
  if (inner.kind === 'folder') {
    return outer.kind === 'folder' && `${resolve(inner.path)}/`.startsWith(`${resolve(outer.path)}/`)
  }
  if (outer.kind === 'folder') return false
  return inner.s3.endpoint === outer.s3.endpoint && inner.s3.bucket === outer.s3.bucket
}

/**
 * Opens the configured installation, beside running servers, while `use` runs. Throws Refusal PRECONDITION_FAILED
 * without a database of this version, and WrongStore.
 */
export async function withInstallation<T>(
  parts: StorageOptions,
  use: (installation: Installation) => Promise<T>,
): Promise<T> {
  const { config, random } = parts
  if (!databaseExists(config)) throw preconditionFailed(`there is no Holdfast data in ${config.dataDir}`)
  const storage = { ...parts, report() {} }
  const { close, ...database } = await connect(storage)
  try {
    await assertOwnVersion(database.db)
    const blobs = await openBlobs(storage, false)
    await assertPaired(database.db, blobs, random)
    return await use({ ...database, blobs })
  } finally {
    await close()
  }
}

/** Throws Refusal PRECONDITION_FAILED for another schema version. */
export async function assertOwnVersion(db: Database): Promise<void> {
  if ((await missingMigrations(db)) === 0) return
  throw preconditionFailed(
    'the database is not of this program\'s version; "holdfast migrate" brings it there',
  )
}

import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config, StorePlace } from '../config.ts'

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
  if (names.includes('mark') || names.includes('mark-copy')) return false
  return !names.every((name) => /^([0-9a-f]{2}|tmp|resumable|lost\+found)$/.test(name))
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

/** Whether losing the data folder's disk loses both; false where all data is remote. */
export async function sharesDisk(place: StorePlace, { dataDir, s3, databaseUrl }: Config): Promise<boolean> {
  if (place.kind !== 'folder' || (s3 !== null && databaseUrl !== null)) return false
  const [its, data] = await Promise.all([stat(place.path), stat(dataDir)])
  return its.dev === data.dev
}

function isInside(inner: StorePlace, outer: StorePlace): boolean {
  if (inner.kind === 'folder') {
    return outer.kind === 'folder' && `${resolve(inner.path)}/`.startsWith(`${resolve(outer.path)}/`)
  }
  if (outer.kind === 'folder') return false
  return inner.s3.endpoint === outer.s3.endpoint && inner.s3.bucket === outer.s3.bucket
}

/** Places of stores beside the first one: backups and the mirror. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { StorePlace } from '../config/setting-groups.ts'

/** For people. */
export function placeName(place: StorePlace): string {
  return place.kind === 'folder' ? place.path : `${place.s3.endpoint}/${place.s3.bucket}`
}

/** Whether a folder has anything but a store in it, and was named by mistake. One that is missing has nothing. */
export async function holdsOtherThings(folder: string): Promise<boolean> {
  if (!existsSync(folder)) return false
  const names = await readdir(folder)
  if (names.includes('mark')) return false
  return !names.every((name) => /^([0-9a-f]{2}|tmp|resumable|lost\+found)$/.test(name))
}

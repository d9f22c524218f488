import { lstat, open } from 'node:fs/promises'
import { BlobDamaged, StoreFailure } from './blob-store.ts'

/** Permissions of new files and folders. */
export interface Modes {
  readonly file: number
  readonly folder: number
}

export const ownModes: Modes = { file: 0o600, folder: 0o700 }
/** The owner's, and read access for the group. */
export const groupModes: Modes = { file: 0o640, folder: 0o750 }

/** Null where there is no regular file: symbolic links are not followed. */
export async function sizeOfFile(path: string): Promise<number | null> {
  const found = await asDiskFailures(() => lstat(path).catch(unlessMissing))
  return found?.isFile() === true ? found.size : null
}

/** Creates the file. Returns once its content would survive a power cut, but not yet its name. */
export async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns once the names in the folder would survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Runs the work. Its errors become StoreFailure, except BlobDamaged. */
export async function asDiskFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof BlobDamaged ? error : diskStoreFailure(error)
  }
}

export function diskStoreFailure(error: unknown): StoreFailure {
  const full = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
  return new StoreFailure(full ? 'full' : 'broken', { cause: error })
}

/** For `catch`: null where the file is missing or is a link that is not followed. Rethrows every other error. */
export function unlessMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT') || hasCode(error, 'ELOOP')) return null
  throw error
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

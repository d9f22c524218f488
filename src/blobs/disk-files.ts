import { lstat, open } from 'node:fs/promises'
import { BlobDamaged, StoreFailure } from './blob-store.ts'

/** Rights of what the store makes. */
export interface Modes {
  readonly file: number
  readonly folder: number
}

export const ownModes: Modes = { file: 0o600, folder: 0o700 }
/** The same, and the group may read. */
export const groupModes: Modes = { file: 0o640, folder: 0o750 }

/** Null where no file is: a symbolic link, wherever it leads, is none of ours. */
export async function sizeOfFile(path: string): Promise<number | null> {
  const found = await failing(() => lstat(path).catch(unlessMissing))
  return found?.isFile() === true ? found.size : null
}

/** Returns once the names in the folder would survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Runs the work; whatever the disk has against it comes out as StoreFailure, but for a blob that is damaged. */
export async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof BlobDamaged ? error : asStoreFailure(error)
  }
}

export function asStoreFailure(error: unknown): StoreFailure {
  const full = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
  return new StoreFailure(full ? 'full' : 'broken', { cause: error })
}

/** For `catch`: null where the file is missing or is a link that is not followed; every other error is thrown on. */
export function unlessMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT') || hasCode(error, 'ELOOP')) return null
  throw error
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

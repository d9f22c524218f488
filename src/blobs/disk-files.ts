import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncate,
  open as openDescriptor,
  openSync,
} from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import { BlobDamaged, BlobUnreadable, isUnreadable, StoreFailure } from './blob-store.ts'

export interface Modes {
  readonly file: number
  readonly folder: number
}

export const ownModes: Modes = { file: 0o600, folder: 0o700 }
export const groupModes: Modes = { file: 0o640, folder: 0o750 }

/** Null where there is no regular file: symbolic links are not followed. Throws BlobUnreadable. */
export async function sizeOfFile(path: string, key: BlobKey): Promise<number | null> {
  const found = await asReadFailures(key, () => lstat(path).catch(unlessMissing))
  return found?.isFile() === true ? found.size : null
}

export async function timeOfFile(path: string): Promise<number | null> {
  const found = await asDiskFailures(() => lstat(path).catch(unlessMissing))
  return found?.isFile() === true ? found.mtimeMs : null
}

/** Returns once the content, but not yet the name, would survive a power cut. */
export async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Only calls that may wait for the disk go to the thread pool, which costs several times a short call. */
export class WritableFile {
  #descriptor: number

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Throws where there is a file. Asynchronous: finding a free inode may take long. */
  static async create(path: string, mode: number): Promise<WritableFile> {
    return new WritableFile(await opened(path, 'wx', mode))
  }

  static async existing(path: string): Promise<WritableFile | null> {
    const descriptor = await opened(path, constants.O_RDWR | constants.O_NOFOLLOW).catch(unlessMissing)
    return descriptor === null ? null : new WritableFile(descriptor)
  }

  /** Negative after `close`. */
  get fd(): number {
    return this.#descriptor
  }

  /** Throws BlobDamaged where the file is shorter. */
  async cutTo(size: number, key: BlobKey): Promise<void> {
    const stored = fstatSync(this.#descriptor).size
    if (stored < size) throw new BlobDamaged(key, stored, size)
    if (stored === size) return
    await new Promise<void>((resolve, reject) => {
      ftruncate(this.#descriptor, size, settling(resolve, reject))
    })
  }

  datasync(): Promise<void> {
    return new Promise((resolve, reject) => fdatasync(this.#descriptor, settling(resolve, reject)))
  }

  close(): void {
    const descriptor = this.#descriptor
    this.#descriptor = -1
    if (descriptor >= 0) closeSync(descriptor)
  }
}

/** Returns once the names in the folder would survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await new Promise<void>((resolve, reject) => fsync(descriptor, settling(resolve, reject)))
  } finally {
    closeSync(descriptor)
  }
}

const opened = (path: string, flags: string | number, mode?: number) =>
  new Promise<number>((resolve, reject) => {
    openDescriptor(path, flags, mode, (error, descriptor) => {
      if (error) reject(error)
      else resolve(descriptor)
    })
  })

function settling(resolve: () => void, reject: (error: unknown) => void) {
  return (error: unknown) => (error === null || error === undefined ? resolve() : reject(error))
}

/** Errors become StoreFailure, except BlobDamaged. */
export async function asDiskFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof BlobDamaged || error instanceof StoreFailure ? error : diskStoreFailure(error)
  }
}

/** `asDiskFailures` for reads: a failed one becomes BlobUnreadable. */
export async function asReadFailures<T>(key: BlobKey, work: () => Promise<T>): Promise<T> {
  return asDiskFailures(async () => {
    try {
      return await work()
    } catch (error) {
      throw isUnreadable(error) ? new BlobUnreadable(key, { cause: error }) : error
    }
  })
}

export function diskStoreFailure(error: unknown): StoreFailure {
  const full = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
  return new StoreFailure(full ? 'full' : 'broken', { cause: error })
}

/** For `catch`: null for a missing file or a link that is not followed; rethrows other errors. */
export function unlessMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT') || hasCode(error, 'ELOOP')) return null
  throw error
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

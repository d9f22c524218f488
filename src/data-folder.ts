import { Database } from 'bun:sqlite'
import { mkdir, open, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** Where things are inside a data folder. */
export interface DataFolder {
  readonly database: string
  readonly blobs: string
}

/** Makes the folder when it is missing. It and every new folder above it would survive a power cut. */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const topmost = await mkdir(path, { recursive: true, mode: 0o700 })
  if (topmost !== undefined) await syncUpTo(path, dirname(topmost))
  return dataFolder(path)
}

/** Bytes that the disk under the folder has left for who is not root. */
export async function freeSpace(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** Where things are in a data folder, or would be. */
export function dataFolder(path: string): DataFolder {
  return { database: join(path, 'holdfast.sqlite'), blobs: join(path, 'blobs') }
}

async function syncUpTo(path: string, top: string): Promise<void> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (folder === resolve(top) || folder === dirname(folder)) return
  }
}

export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse'
}

/**
 * Keeps the folder for one server alone until the returned function is called or the process is gone, however it
 * went: the lock is the operating system's, held through an open SQLite transaction. Throws DataFolderInUse.
 */
export function lockDataFolder(path: string): () => void {
  const lock = new Database(join(path, 'server.lock'), { create: true })
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    throw new DataFolderInUse(
      `another Holdfast server is using the data folder ${path}; stop it first, or set HOLDFAST_DATA_DIR to another folder`,
      { cause: error },
    )
  }
  return () => lock.close()
}

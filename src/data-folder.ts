import { Database } from 'bun:sqlite'
import { chmod, mkdir, open, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { giveUpReserve } from './reserve.ts'

/** Where things are inside a data folder. */
export interface DataFolder {
  readonly database: string
  readonly blobs: string
}

/** Rights that nobody else gets on what the data folder holds. */
const OTHERS = 0o077
/** The same where the group may read, such as one that makes backups. */
const OTHERS_AND_GROUP_WRITES = 0o027

const withheld = (groupRead: boolean) => (groupRead ? OTHERS_AND_GROUP_WRITES : OTHERS)

/**
 * Makes the folder when it is missing. It and every new folder above it would survive a power cut. From now on this
 * process makes no file that others can read: the database holds the secret that links are signed with. On a full disk the
 * reserve makes way.
 */
export async function openDataFolder(path: string, groupRead = false): Promise<DataFolder> {
  process.umask(withheld(groupRead))
  const topmost = await mkdir(path, { recursive: true, mode: 0o777 & ~withheld(groupRead) })
  if (topmost !== undefined) await syncUpTo(path, dirname(topmost))
  await giveUpReserve(path)
  return dataFolder(path)
}

/** Bytes that the disk under the folder has left for who is not root. */
export async function freeSpace(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** Bytes that the whole disk under the folder has. */
export async function diskSize(path: string): Promise<number> {
  const { blocks, bsize } = await statfs(path)
  return blocks * bsize
}

/** Something in a data folder that others could read or write, with the mode it had. */
export interface OpenToOthers {
  readonly path: string
  /** As `chmod` takes it: `755`. */
  readonly mode: string
  readonly isMended: boolean
}

/**
 * Takes away what rights others have on the folder and on what lies directly in it, through which they would reach the
 * rest. What cannot be changed, because it is somebody else's, is left.
 */
export async function closeToOthers(path: string, groupRead: boolean): Promise<readonly OpenToOthers[]> {
  const { database, blobs } = dataFolder(path)
  const lock = lockOf(path)
  const files = [database, `${database}-wal`, `${database}-shm`, lock, `${lock}-journal`]
  const found: OpenToOthers[] = []
  for (const each of [path, ...files, blobs]) {
    const mode = (await stat(each).catch(() => null))?.mode
    if (mode === undefined || (mode & withheld(groupRead)) === 0) continue
    const isMended = await chmod(each, mode & 0o777 & ~withheld(groupRead)).then(
      () => true,
      () => false,
    )
    found.push({ path: each, mode: (mode & 0o777).toString(8), isMended })
  }
  return found
}

const lockOf = (path: string) => join(path, 'server.lock')

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
  const lock = new Database(lockOf(path), { create: true })
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw new DataFolderInUse(
      `another Holdfast server is using the data folder ${path}; stop it first, or set HOLDFAST_DATA_DIR to another folder`,
      { cause: error },
    )
  }
  return () => lock.close()
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^SQLITE_(BUSY|LOCKED)/.test(String(error.code))
}

import { Database } from 'bun:sqlite'
import { chmod, mkdir, open, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { giveUpReserve } from './reserve.ts'

export interface DataFolder {
  readonly database: string
  readonly blobs: string
}

/** Denied to others in the data folder. */
const OTHERS = 0o077
/** For a group that may read, such as one that makes backups. */
const OTHERS_AND_GROUP_WRITES = 0o027

const withheld = (groupRead: boolean) => (groupRead ? OTHERS_AND_GROUP_WRITES : OTHERS)

/**
 * Creates a missing folder durably, with its parents. From then on this process creates no file that others can read:
 * the database holds the secret that signs links. Frees the reserve on a full disk.
 */
export async function openDataFolder(path: string, groupRead = false): Promise<DataFolder> {
  process.umask(withheld(groupRead))
  const topmost = await mkdir(path, { recursive: true, mode: 0o777 & ~withheld(groupRead) })
  if (topmost !== undefined) await syncUpTo(path, dirname(topmost))
  await giveUpReserve(path)
  return dataFolder(path)
}

/** Bytes available to users other than root; `diskSize` counts all. */
export async function freeSpace(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

export async function diskSize(path: string): Promise<number> {
  const { blocks, bsize } = await statfs(path)
  return blocks * bsize
}

export interface OpenToOthers {
  readonly path: string
  readonly mode: string
  readonly isMended: boolean
}

/** On the folder and its direct content, which leads to the rest. Skips what belongs to another user. */
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

/** Lock of the operating system until the process ends, held by an open SQLite transaction. Throws DataFolderInUse. */
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

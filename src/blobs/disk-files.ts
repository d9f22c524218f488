import { spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncate,
  open as openDescriptor,
  openSync,
  type Stats,
  statfsSync,
} from 'node:fs'
import { lstat, mkdir, open, readdir, rm, unlink } from 'node:fs/promises'
import { release } from 'node:os'
import { dirname, join } from 'node:path'
import type { BlobKey } from '../domain/ids.ts'
import { BlobDamaged, BlobUnreadable, isUnreadable, type MarkCopy, StoreFailure } from './blob-store.ts'

const SHARDS = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'))

export class DiskLayout {
  readonly folder: string
  /** Holds blobs of one write session. */
  readonly unfinished: string
  /** Holds blobs of any number of write sessions. */
  readonly resumable: string
  readonly dropsUnfinished: boolean

  constructor(folder: string, dropsUnfinished: boolean) {
    this.folder = folder
    this.dropsUnfinished = dropsUnfinished
    this.unfinished = join(folder, 'tmp')
    this.resumable = join(folder, 'resumable')
  }

  get folders(): readonly string[] {
    return [this.unfinished, this.resumable, ...this.shards]
  }

  get shards(): readonly string[] {
    return SHARDS.map((shard) => join(this.folder, shard))
  }

  mark(copy: MarkCopy): string {
    return join(this.folder, copy)
  }

  temporary(key: BlobKey): string {
    return join(this.unfinished, key)
  }

  growing(key: BlobKey): string {
    return join(this.resumable, key)
  }

  shard(key: BlobKey): string {
    return join(this.folder, key.slice(0, 2))
  }

  finished(key: BlobKey): string {
    return join(this.shard(key), key)
  }
}

/** A link inside the store. The store's own folder may be one. */
export class LinkInStore extends Error {
  override readonly name = 'LinkInStore'

  constructor(path: string) {
    super(
      `${path} is a symbolic link, and Holdfast follows none inside the store; put the folder itself there, or make the whole data folder a link`,
    )
  }
}

/**
 * Folders with a removal whose sync failed, by the number of the last failure. A restart may forget them: a file that a
 * power cut brings back has no row, its key is never reused, and `holdfast check` finds it.
 */
const unsyncedRemovals = new Map<string, number>()
let failures = 0

/**
 * Returns once the removal is durable, also one of an earlier try: the row goes, and a file that came back is orphaned.
 */
export async function removeDurably(path: string): Promise<void> {
  const folder = dirname(path)
  const isRemoved = (await unlink(path).then(() => true, unlessMissing)) === true
  const failure = unsyncedRemovals.get(folder)
  if (!isRemoved && failure === undefined) return
  try {
    await syncDirectory(folder)
  } catch (error) {
    failures += 1
    unsyncedRemovals.set(folder, failures)
    throw error
  }
  // A later failure may be of a removal after this sync began.
  if (unsyncedRemovals.get(folder) === failure) unsyncedRemovals.delete(folder)
}

export async function removeUnfinished(layout: DiskLayout, key: BlobKey): Promise<void> {
  if (layout.dropsUnfinished) await rm(layout.temporary(key), { force: true })
  else await removeDurably(layout.temporary(key))
}

/** Creates every folder durably, so that completing a blob syncs one folder only. Throws LinkInStore. */
export async function makeFolders({ folder, folders }: DiskLayout, modes: Modes): Promise<void> {
  const there = await foldersIn(folder)
  for (const path of folders) {
    if (there.has(path)) continue
    await mkdir(path, { recursive: true, mode: modes.folder })
    if ((await lstat(path)).isSymbolicLink()) throw new LinkInStore(path)
  }
  await syncDirectory(folder)
  await syncDirectory(join(folder, '..'))
}

async function foldersIn(folder: string): Promise<ReadonlySet<string>> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(unlessMissing)) ?? []
  return new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name)))
}

export interface Modes {
  readonly file: number
  readonly folder: number
}

export const ownModes: Modes = { file: 0o600, folder: 0o700 }
export const groupModes: Modes = { file: 0o640, folder: 0o750 }

/** Null where there is no regular file: symbolic links are not followed. Throws BlobUnreadable. */
export async function statOfFile(path: string, key: BlobKey): Promise<Stats | null> {
  const found = await asReadFailures(key, () => lstat(path).catch(unlessMissing))
  return found?.isFile() === true ? found : null
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

/** statfs(2) types whose syncfs(2) makes everything durable; FUSE does not. */
const SYNCED_AS_A_WHOLE = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630, 0x01021994,
])
/** Linux version since which syncfs reports write errors. */
const TELLS_FAILURES_SINCE = [5, 8] as const

export async function isSyncedAsWhole(folder: string): Promise<boolean> {
  if (process.platform !== 'linux' || !isRecent(release())) return false
  if (!SYNCED_AS_A_WHOLE.has(statfsSync(folder).type)) return false
  return syncFileSystem(folder).then(
    () => true,
    () => false,
  )
}

/** Returns once everything on the folder's file system would survive a power cut. Throws StoreFailure. */
export async function syncFileSystem(folder: string): Promise<void> {
  const problem = await new Promise<string | null>((resolve) => {
    // coreutils and BusyBox have it, the runtime has no call. The disk dominates its time.
    const child = spawn('sync', ['-f', folder], { stdio: 'ignore' })
    child.on('error', ({ message }) => resolve(message))
    child.on('exit', (code, signal) => resolve(code === 0 ? null : `ended with ${code ?? signal}`))
  })
  if (problem === null) return
  throw new StoreFailure('broken', { cause: new Error(`syncing the file system failed: ${problem}`) })
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [least, leastMinor] = TELLS_FAILURES_SINCE
  return major > least || (major === least && minor >= leastMinor)
}

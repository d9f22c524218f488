import { lstat, mkdir, readdir, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobKey } from '../domain/ids.ts'
import type { MarkCopy } from './blob-store.ts'
import { type Modes, syncDirectory, unlessMissing } from './disk-files.ts'

/** Names of the folders for complete blobs: the first two characters of their keys. */
const SHARDS = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'))

/** Paths inside the folder of a store. */
export class DiskLayout {
  readonly folder: string
  /** Folder of blobs that are written in one session. */
  readonly unfinished: string
  /** Folder of resumable blobs. */
  readonly resumable: string
  /** Whether the next opening removes blobs that were written in one session and are not complete. */
  readonly dropsUnfinished: boolean

  constructor(folder: string, dropsUnfinished: boolean) {
    this.folder = folder
    this.dropsUnfinished = dropsUnfinished
    this.unfinished = join(folder, 'tmp')
    this.resumable = join(folder, 'resumable')
  }

  /** Every folder that may hold blobs: those of unfinished ones first. */
  get folders(): readonly string[] {
    return [this.unfinished, this.resumable, ...this.shards]
  }

  /** Every folder of complete blobs. */
  get shards(): readonly string[] {
    return SHARDS.map((shard) => join(this.folder, shard))
  }

  /** File with the mark. */
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

/** A folder inside the store is a symbolic link. The store's own folder may be one. */
export class LinkInStore extends Error {
  override readonly name = 'LinkInStore'

  constructor(path: string) {
    super(
      `${path} is a symbolic link, and Holdfast follows none inside the store; put the folder itself there, or make the whole data folder a link`,
    )
  }
}

/**
 * Folders of which a removal was not synced because that failed, with the number of the last such failure. A restart forgets
 * them, and needs no memory of them: a file that comes back by a power cut soon after belongs to no row, so that no address
 * leads to it, and costs its space until `holdfast check` finds it among what no row refers to. Its key is never given again.
 */
const unsyncedRemovals = new Map<string, number>()
let failures = 0

/**
 * Removes the file of a complete blob, or of a resumable one, if there is one. Returns once that would survive a power
 * cut: the row that tells of it is about to go, and nobody would look for a file that came back. So a file that an earlier
 * try has removed, in this process, is synced too.
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
  // A failure meanwhile may be of a removal that came after this sync began.
  if (unsyncedRemovals.get(folder) === failure) unsyncedRemovals.delete(folder)
}

/** `removeDurably` for a blob that was written in one session. */
export async function removeUnfinished(layout: DiskLayout, key: BlobKey): Promise<void> {
  if (layout.dropsUnfinished) await rm(layout.temporary(key), { force: true })
  else await removeDurably(layout.temporary(key))
}

/** Creates every folder and makes its name durable, so that a completed blob needs the sync of one folder only. Throws LinkInStore. */
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

/** Paths of the folders directly inside, links left out; none where there is no such folder. */
async function foldersIn(folder: string): Promise<ReadonlySet<string>> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(unlessMissing)) ?? []
  return new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name)))
}

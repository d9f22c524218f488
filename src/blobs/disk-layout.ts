import { lstat, mkdir, readdir, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobKey } from '../domain/ids.ts'
import type { MarkCopy } from './blob-store.ts'
import { type Modes, syncDirectory, unlessMissing } from './disk-files.ts'

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

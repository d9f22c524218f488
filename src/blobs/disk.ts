import { constants, fstatSync, statfsSync, writeSync } from 'node:fs'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { type BlobKey, isBlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { removeOneByOne } from './adapters.ts'
import {
  assertSize,
  assertStored,
  type BlobChunks,
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  type BlobWriter,
  type GrowingBlob,
  isUnreadable,
  type KeptBlob,
  type ListedBlob,
  type MarkCopy,
  type ResumableWriter,
} from './blob-store.ts'
import {
  asDiskFailures,
  DiskLayout,
  diskStoreFailure,
  groupModes,
  type Modes,
  makeFolders,
  ownModes,
  removeDurably,
  removeUnfinished,
  statOfFile,
  syncDirectory,
  unlessMissing,
  WritableFile,
  writeSynced,
} from './disk-files.ts'
import { BlobFiles, FileChunks } from './disk-reading.ts'
import { DirectWriting, GrowingFile, resumeOnDisk } from './disk-writing.ts'

const PROBE_BYTES = 512
const LISTED_AT_ONCE = 64

export interface DiskOptions {
  /** Opening removes unfinished blobs; in a folder shared by nodes another node may be writing them. */
  readonly alone: boolean
  readonly groupRead?: boolean
  /** Before relying on blobs the caller runs `syncFileSystem`, and verifies hashes of those from an earlier run. */
  readonly isSyncedLater?: boolean
}

/**
 * Blobs as files: `<folder>/<first two characters>/<key>`, unfinished in `tmp`, or `resumable` if later sessions may
 * continue; those of `put` have their final name at once. Throws LinkInStore: links inside are not followed.
 */
export async function openDiskBlobs(
  folder: string,
  random: Random,
  { alone, groupRead = false, isSyncedLater = false }: DiskOptions,
): Promise<BlobStore> {
  const layout = new DiskLayout(folder, alone)
  const modes = groupRead ? groupModes : ownModes
  if (alone) await rm(layout.unfinished, { recursive: true, force: true })
  await makeFolders(layout, modes)
  return new DiskBlobs(layout, modes, random, isSyncedLater)
}

class DiskBlobs implements BlobStore {
  readonly readsGrowing = true
  readonly #layout: DiskLayout
  readonly #modes: Modes
  readonly #random: Random
  readonly #isSyncedLater: boolean
  readonly #direct = new DirectWriting()
  readonly #files = new BlobFiles()

  constructor(layout: DiskLayout, modes: Modes, random: Random, isSyncedLater: boolean) {
    this.#layout = layout
    this.#modes = modes
    this.#random = random
    this.#isSyncedLater = isSyncedLater
  }

  get dropsUnfinished(): boolean {
    return this.#layout.dropsUnfinished
  }

  async create(key: BlobKey): Promise<BlobWriter> {
    const path = this.#layout.temporary(key)
    const handle = await asDiskFailures(() => WritableFile.create(path, this.#modes.file))
    if (this.#isSyncedLater) return new DeferredSyncWriter(this.#layout, key, handle)
    const direct = this.#direct.start(path)
    const file = new GrowingFile({ handle, path, direct, sync: () => handle.datasync(), from: 0 })
    return new DiskWriter(this.#layout, key, file)
  }

  async put(key: BlobKey, bytes: Uint8Array): Promise<void> {
    await asDiskFailures(() => writeWholeFile(this.#layout, key, bytes, this.#modes.file))
  }

  resume(key: BlobKey, kept: KeptBlob | null): Promise<ResumableWriter> {
    const parts = { layout: this.#layout, direct: this.#direct, mode: this.#modes.file }
    return resumeOnDisk(parts, key, kept)
  }

  async read(key: BlobKey, start: number, end: number, size?: number): Promise<BlobChunks> {
    return new FileChunks(await this.#files.open(key, this.#layout.finished(key), size), start, end)
  }

  async openGrowing(key: BlobKey): Promise<GrowingBlob> {
    try {
      return await this.#files.open(key, this.#layout.growing(key))
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw error
    }
    return this.#files.open(key, this.#layout.finished(key))
  }

  async size(key: BlobKey): Promise<number | null> {
    return (await statOfFile(this.#layout.finished(key), key))?.size ?? null
  }

  async remove(key: BlobKey): Promise<void> {
    await asDiskFailures(async () => {
      await removeUnfinished(this.#layout, key)
      await removeDurably(this.#layout.growing(key))
      await removeDurably(this.#layout.finished(key))
      this.#files.forget(this.#layout.finished(key))
    })
  }

  removeAll(keys: readonly BlobKey[], failed: (error: unknown) => void): Promise<BlobKey[]> {
    return removeOneByOne(keys, (key) => this.remove(key), failed)
  }

  async endForgotten(): Promise<void> {}

  async *list(): AsyncIterable<ListedBlob> {
    // Unfinished blobs first: one completed meanwhile is then listed twice instead of never.
    for (const folder of [this.#layout.unfinished, this.#layout.resumable]) {
      for (const key of await keysIn(folder)) yield { key, size: null, storedAt: null }
    }
    for (const folder of this.#layout.shards) {
      const keys = await keysIn(folder)
      while (keys.length > 0)
        yield* await Promise.all(keys.splice(-LISTED_AT_ONCE).map((key) => this.#listed(key)))
    }
  }

  /** An entry that cannot be read or is gone does not hide the others. */
  async #listed(key: BlobKey): Promise<ListedBlob> {
    try {
      const found = await statOfFile(this.#layout.finished(key), key)
      return { key, size: found?.size ?? null, storedAt: found?.mtimeMs ?? null }
    } catch (error) {
      if (isUnreadable(error)) return { key, size: null, storedAt: null }
      throw error
    }
  }

  async freeSpace(): Promise<number | null> {
    const { bavail, bsize } = await asDiskFailures(async () => statfsSync(this.#layout.folder))
    return bavail * bsize
  }

  probe(): Promise<void> {
    return this.#withTemporary(async (path) => {
      const content = Buffer.from(this.#random(PROBE_BYTES))
      await writeSynced(path, content, this.#modes.file)
      if (!content.equals(await readFile(path))) throw new Error('the probe came back changed')
    })
  }

  readMark(copy: MarkCopy = 'mark'): Promise<string | null> {
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW
    return asDiskFailures(() =>
      readFile(this.#layout.mark(copy), { encoding: 'utf8', flag }).catch(unlessMissing),
    )
  }

  writeMark(mark: string, copy: MarkCopy = 'mark'): Promise<void> {
    // A temporary file until it is whole, so that no reader sees half of it.
    return this.#withTemporary(async (path) => {
      await writeSynced(path, mark, this.#modes.file)
      await rename(path, this.#layout.mark(copy))
      await syncDirectory(this.#layout.folder)
    })
  }

  async link(): Promise<null> {
    return null
  }

  #withTemporary(work: (path: string) => Promise<void>): Promise<void> {
    const key = makeBlobKey(this.#random)
    return asDiskFailures(async () => {
      try {
        await work(this.#layout.temporary(key))
      } finally {
        await removeUnfinished(this.#layout, key)
      }
    })
  }
}

async function keysIn(folder: string): Promise<BlobKey[]> {
  return (await asDiskFailures(() => readdir(folder))).filter(isBlobKey)
}

class DiskWriter implements BlobWriter {
  readonly #layout: DiskLayout
  readonly #key: BlobKey
  readonly #file: GrowingFile

  constructor(layout: DiskLayout, key: BlobKey, file: GrowingFile) {
    this.#layout = layout
    this.#key = key
    this.#file = file
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#file.write(chunk)
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    await this.#file.sync()
    await recorded
    try {
      return await this.#file.publish(this.#layout, this.#key)
    } catch (error) {
      // Also for a damaged blob: nothing of it is recorded, and the disk cannot be trusted.
      throw diskStoreFailure(error)
    }
  }

  async abort(): Promise<void> {
    await this.#file.close()
    await removeUnfinished(this.#layout, this.#key)
    await removeDurably(this.#layout.finished(this.#key))
  }
}

/** Under its final name, which saves a change of folders: one journal commit makes bytes and name durable. */
async function writeWholeFile(
  layout: DiskLayout,
  key: BlobKey,
  bytes: Uint8Array,
  mode: number,
): Promise<void> {
  const file = await WritableFile.create(layout.finished(key), mode)
  try {
    for (let done = 0; done < bytes.byteLength; ) {
      done += writeSync(file.fd, bytes, done, bytes.byteLength - done, done)
    }
    assertStored(key, fstatSync(file.fd).size, bytes.byteLength)
    // The descriptor is in use until both have ended.
    const syncs = await Promise.allSettled([file.datasync(), syncDirectory(layout.shard(key))])
    for (const sync of syncs) if (sync.status === 'rejected') throw sync.reason
  } finally {
    file.close()
  }
}

/** Leaves durability to `syncFileSystem`. */
class DeferredSyncWriter implements BlobWriter {
  readonly #layout: DiskLayout
  readonly #key: BlobKey
  readonly #file: WritableFile
  #size = 0

  constructor(layout: DiskLayout, key: BlobKey, file: WritableFile) {
    this.#layout = layout
    this.#key = key
    this.#file = file
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < chunk.byteLength; ) {
        done += writeSync(this.#file.fd, chunk, done, chunk.byteLength - done, this.#size + done)
      }
      this.#size += chunk.byteLength
    } catch (error) {
      throw diskStoreFailure(error)
    }
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    await recorded
    try {
      assertSize(this.#key, fstatSync(this.#file.fd).size, this.#size)
      this.#file.close()
      await rename(this.#layout.temporary(this.#key), this.#layout.finished(this.#key))
      return this.#size
    } catch (error) {
      throw error instanceof BlobDamaged ? error : diskStoreFailure(error)
    }
  }

  async abort(): Promise<void> {
    this.#file.close()
    await rm(this.#layout.temporary(this.#key), { force: true })
    await rm(this.#layout.finished(this.#key), { force: true })
  }
}

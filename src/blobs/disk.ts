import { writeSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { BlobMissing, type BlobStore, type BlobWriter, StoreFailure } from './blob-store.ts'
import { isBlobKey } from './keys.ts'

/** A growing file is synced every so many bytes, so that the last sync is short. */
const SYNC_EVERY = 16 * 1024 * 1024

export interface DiskOptions {
  /**
   * No other process has the folder open: what an earlier one left unfinished is cleared at opening. Where several
   * nodes share a folder, it may be what another one is just writing, so it stays until it is removed by its key.
   */
  readonly alone: boolean
}

/**
 * Blobs as files: `<folder>/<first two characters>/<key>`, and `<folder>/tmp/<key>` until they are complete. The mark
 * is `<folder>/mark`.
 */
export async function openDiskBlobs(
  folder: string,
  random: Random,
  { alone }: DiskOptions,
): Promise<BlobStore> {
  const unfinished = join(folder, 'tmp')
  const mark = join(folder, 'mark')
  if (alone) await rm(unfinished, { recursive: true, force: true })
  await makeFolders(folder, unfinished)

  const temporary = (key: BlobKey) => join(unfinished, key)
  const shard = (key: BlobKey) => join(folder, key.slice(0, 2))
  const finished = (key: BlobKey) => join(shard(key), key)

  const store: BlobStore = {
    async create(key) {
      const handle = await failing(() => open(temporary(key), 'wx', 0o600))
      return diskWriter(handle, temporary(key), finished(key), shard(key))
    },

    async read(key, start, end) {
      if ((await store.size(key)) === null) throw new BlobMissing(key)
      return Bun.file(finished(key)).slice(start, end)
    },

    async size(key) {
      try {
        return (await stat(finished(key))).size
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return null
        throw asStoreFailure(error)
      }
    },

    async remove(key) {
      await failing(async () => {
        await rm(temporary(key), { force: true })
        await rm(finished(key), { force: true })
      })
    },

    async *list() {
      // Unfinished ones first: one that is finished meanwhile is then named twice rather than not at all.
      for (const name of ['tmp', ...shards]) {
        for (const key of await failing(() => readdir(join(folder, name)))) {
          if (isBlobKey(key)) yield key
        }
      }
    },

    async freeSpace() {
      const { bavail, bsize } = await failing(() => statfs(folder))
      return bavail * bsize
    },

    async probe() {
      const key = makeBlobKey(random)
      const path = temporary(key)
      try {
        await failing(async () => {
          const content = Buffer.from(random(512))
          const handle = await open(path, 'wx', 0o600)
          try {
            await handle.write(content)
            await handle.sync()
          } finally {
            await handle.close()
          }
          if (!content.equals(await readFile(path))) throw new Error('the probe came back changed')
        })
      } finally {
        await rm(path, { force: true })
      }
    },

    async readMark() {
      try {
        return await readFile(mark, 'utf8')
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return null
        throw asStoreFailure(error)
      }
    },

    async writeMark(text) {
      // Under a name of its own until it is whole, so that nobody ever reads half of it.
      const path = join(unfinished, makeBlobKey(random))
      try {
        await failing(async () => {
          const handle = await open(path, 'wx', 0o600)
          try {
            await handle.writeFile(text)
            await handle.sync()
          } finally {
            await handle.close()
          }
          await rename(path, mark)
          await syncFolder(folder)
        })
      } finally {
        await rm(path, { force: true })
      }
    },

    async link() {
      return null
    },
  }
  return store
}

/** The folders that blobs lie in: by the first two characters of their keys. */
const shards = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'))

/** Makes every folder there will ever be, and makes them last, so that finishing a blob syncs one folder only. */
async function makeFolders(folder: string, unfinished: string): Promise<void> {
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  for (const shard of shards) await mkdir(join(folder, shard), { recursive: true, mode: 0o700 })
  await syncFolder(folder)
  await syncFolder(join(folder, '..'))
}

function diskWriter(handle: FileHandle, from: string, to: string, shard: string): BlobWriter {
  let position = 0
  let syncedUpTo = 0
  let syncing: Promise<void> | null = null
  let failure: StoreFailure | null = null

  /** Runs beside the writing. Its failure is final: after a failed sync the kernel may have dropped the bytes. */
  function syncBeside(): void {
    syncedUpTo = position
    syncing = handle
      .datasync()
      .catch((error: unknown) => {
        failure = asStoreFailure(error)
      })
      .finally(() => {
        syncing = null
      })
  }

  return {
    async write(chunk) {
      if (failure !== null) throw failure
      // Into the page cache and on this thread: while a write elsewhere is awaited, the server gathers what each
      // sender sends meanwhile, which takes more memory with many senders and more time with one.
      await failing(async () => {
        for (let done = 0; done < chunk.byteLength; ) {
          const written = writeSync(handle.fd, chunk, done, chunk.byteLength - done, position)
          done += written
          position += written
        }
      })
      if (syncing === null && position - syncedUpTo >= SYNC_EVERY) syncBeside()
    },

    async complete() {
      await syncing
      if (failure !== null) throw failure
      await failing(async () => {
        await handle.datasync()
        await handle.close()
        await rename(from, to)
        await syncFolder(shard)
      })
    },

    async abort() {
      await syncing
      await handle.close().catch(() => {})
      await rm(from, { force: true })
      await rm(to, { force: true })
    },
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asStoreFailure(error)
  }
}

function asStoreFailure(error: unknown): StoreFailure {
  const full = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
  return new StoreFailure(full ? 'full' : 'broken', { cause: error })
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

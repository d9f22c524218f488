import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { assertSize, BlobMissing, type BlobStore, type BlobWriter } from './blob-store.ts'
import { DirectWriting } from './direct-writing.ts'
import {
  failing,
  groupModes,
  type Modes,
  ownModes,
  sizeOfFile,
  syncFolder,
  unlessMissing,
} from './disk-files.ts'
import { fillFrom } from './disk-reading.ts'
import { resumeOnDisk } from './disk-resumable.ts'
import { type GrowingFile, growingFile } from './growing-file.ts'
import { isBlobKey } from './keys.ts'

export interface DiskOptions {
  /**
   * No other process has the folder open: what an earlier one left unfinished is cleared at opening. Where several
   * nodes share a folder, it may be what another one is just writing, so it stays until it is removed by its key.
   */
  readonly alone: boolean
  /** Whether the group of the folder may read what is made in it. */
  readonly groupRead?: boolean
}

/**
 * Blobs as files, behind no symbolic links: `<folder>/<first two characters>/<key>`. Until they are complete they are `<folder>/tmp/<key>`, or
 * `<folder>/resumable/<key>` where a later sitting may go on with them. The mark is `<folder>/mark`.
 */
export async function openDiskBlobs(
  folder: string,
  random: Random,
  { alone, groupRead = false }: DiskOptions,
): Promise<BlobStore> {
  const modes = groupRead ? groupModes : ownModes
  const unfinished = join(folder, 'tmp')
  const resumable = join(folder, 'resumable')
  const mark = join(folder, 'mark')
  const direct = new DirectWriting()
  if (alone) await rm(unfinished, { recursive: true, force: true })
  await makeFolders(folder, [unfinished, resumable], modes)

  const temporary = (key: BlobKey) => join(unfinished, key)
  const waiting = (key: BlobKey) => join(resumable, key)
  const shard = (key: BlobKey) => join(folder, key.slice(0, 2))
  const finished = (key: BlobKey) => join(shard(key), key)

  const store: BlobStore = {
    async create(key) {
      const path = temporary(key)
      const handle = await failing(() => open(path, 'wx', modes.file))
      const file = growingFile({ handle, direct: direct.start(path), sync: () => handle.datasync(), from: 0 })
      return diskWriter(handle, file, path, finished(key), shard(key))
    },

    resume(key, kept) {
      const places = {
        folder: resumable,
        mode: modes.file,
        growing: waiting(key),
        shard: shard(key),
        finished: finished(key),
      }
      return resumeOnDisk(key, places, kept, direct)
    },

    async read(key, start, end, size) {
      const stored = await store.size(key)
      if (stored === null) throw new BlobMissing(key)
      if (size !== undefined) assertSize(key, stored, size)
      return Bun.file(finished(key)).slice(start, end)
    },

    readInto: (key, start, target, size) => fillFrom(key, finished(key), start, target, size),

    size: (key) => sizeOfFile(finished(key)),

    async remove(key) {
      await failing(async () => {
        await rm(temporary(key), { force: true })
        await rm(waiting(key), { force: true })
        await rm(finished(key), { force: true })
      })
    },

    async *list() {
      // Unfinished ones first: one that is finished meanwhile is then named twice rather than not at all.
      for (const name of ['tmp', 'resumable', ...shards]) {
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
          const handle = await open(path, 'wx', modes.file)
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

    readMark: () =>
      failing(() =>
        readFile(mark, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW }).catch(
          unlessMissing,
        ),
      ),

    async writeMark(text) {
      // Under a name of its own until it is whole, so that nobody ever reads half of it.
      const path = join(unfinished, makeBlobKey(random))
      try {
        await failing(async () => {
          const handle = await open(path, 'wx', modes.file)
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

/** A folder of the store leads somewhere else. The store's own folder may. */
export class LinkInStore extends Error {
  override readonly name = 'LinkInStore'

  constructor(path: string) {
    super(
      `${path} is a symbolic link, and Holdfast follows none inside the store; put the folder itself there, or make the whole data folder a link`,
    )
  }
}

/** The folders that blobs lie in: by the first two characters of their keys. */
const shards = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'))

/** Makes every folder there will ever be, and makes them last, so that finishing a blob syncs one folder only. */
async function makeFolders(folder: string, unfinished: readonly string[], modes: Modes): Promise<void> {
  for (const path of [...unfinished, ...shards.map((shard) => join(folder, shard))]) {
    await mkdir(path, { recursive: true, mode: modes.folder })
    if ((await lstat(path)).isSymbolicLink()) throw new LinkInStore(path)
  }
  await syncFolder(folder)
  await syncFolder(join(folder, '..'))
}

function diskWriter(
  handle: FileHandle,
  file: GrowingFile,
  from: string,
  to: string,
  shard: string,
): BlobWriter {
  return {
    write: (chunk) => file.write(chunk),

    async complete() {
      await file.sync()
      return failing(async () => {
        const { size } = await handle.stat()
        await file.close()
        await rename(from, to)
        await syncFolder(shard)
        return size
      })
    },

    async abort() {
      await file.close()
      await rm(from, { force: true })
      await rm(to, { force: true })
    },
  }
}

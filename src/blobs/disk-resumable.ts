import { constants } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import type { BlobKey, BlobProgress } from '../domain/ids.ts'
import { assertAllKept } from './all-kept.ts'
import { BlobMissing, type KeptBlob, type ResumableWriter, StoreFailure } from './blob-store.ts'
import { completedBlob } from './completed-blob.ts'
import type { DirectWriting } from './direct-writing.ts'
import { failing, sizeOfFile, syncFolder, unlessMissing } from './disk-files.ts'
import { growingFile } from './growing-file.ts'

/** Where one blob lies while it grows, and when it is whole. */
export interface ResumablePlaces {
  readonly folder: string
  /** Of a new file. */
  readonly mode: number
  readonly growing: string
  readonly shard: string
  readonly finished: string
}

/** The file's own length and the offset say it all. */
const PROGRESS = 'disk' as BlobProgress

/** A sitting at a file that waits under a name of its own for the next one; a whole one is renamed, never copied. */
export async function resumeOnDisk(
  key: BlobKey,
  places: ResumablePlaces,
  kept: KeptBlob | null,
  direct: DirectWriting,
): Promise<ResumableWriter> {
  if (kept === null) {
    return sitting(await failing(() => open(places.growing, 'wx', places.mode)), places, null, direct)
  }
  const handle = await failing(() =>
    open(places.growing, constants.O_RDWR | constants.O_NOFOLLOW).catch(unlessMissing),
  )
  if (handle === null) return completedFile(key, places, kept)
  try {
    return await failing(async () => {
      const { size } = await handle.stat()
      if (size < kept.offset) throw new Error(`${places.growing} has ${size} bytes, ${kept.offset} were kept`)
      // What a sitting wrote and did not keep may be anything after a power cut.
      await handle.truncate(kept.offset)
      return sitting(handle, places, kept, direct)
    })
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function completedFile(
  key: BlobKey,
  { finished, shard }: ResumablePlaces,
  kept: KeptBlob,
): Promise<ResumableWriter> {
  const size = await sizeOfFile(finished)
  if (size === null) throw new BlobMissing(key)
  if (size !== kept.offset) {
    throw new StoreFailure('broken', {
      cause: new Error(`${finished} has ${size} bytes, ${kept.offset} were kept`),
    })
  }
  return completedBlob(kept, () => failing(() => syncFolder(shard)))
}

function sitting(
  handle: FileHandle,
  places: ResumablePlaces,
  before: KeptBlob | null,
  direct: DirectWriting,
): ResumableWriter {
  let isNamed = before !== null
  let kept = before
  const file = growingFile({
    handle,
    direct: direct.start(places.growing),
    sync,
    from: before?.offset ?? 0,
  })

  /** A new file's name has to be safe too, for the next sitting to find it. */
  async function sync(): Promise<void> {
    await handle.datasync()
    if (!isNamed) await syncFolder(places.folder)
    isNamed = true
  }

  return {
    write: (chunk) => file.write(chunk),

    async keep() {
      if (kept?.offset !== file.position) await file.sync()
      kept = { offset: file.position, progress: PROGRESS }
      return kept
    },

    safe() {
      if (file.synced <= (kept?.offset ?? 0)) return null
      kept = { offset: file.synced, progress: PROGRESS }
      return kept
    },

    async complete() {
      assertAllKept(kept, file.position)
      // It gets another name now: this one need not be safe any more.
      isNamed = true
      if (kept === null) await file.sync()
      return failing(async () => {
        const { size } = await handle.stat()
        await file.close()
        await rename(places.growing, places.finished)
        await syncFolder(places.shard)
        return size
      })
    },

    close: () => file.close(),
  }
}

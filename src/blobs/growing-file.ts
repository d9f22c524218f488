import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { DirectFile } from './direct-writing.ts'
import { asStoreFailure } from './disk-files.ts'

/** A growing file is synced every so many bytes, so that the last sync is short. */
const SYNC_EVERY = 4 * 1024 * 1024

/** A file that is written from one end to the other, and synced meanwhile. Throws StoreFailure, from then on always. */
export interface GrowingFile {
  /** Where the next byte goes. */
  readonly position: number
  /** Every byte before it would survive a power cut. */
  readonly synced: number
  /** As that of a blob's writer. Of what goes past the page cache several are under way at a time. */
  write(chunk: Uint8Array): Promise<void>
  /** Returns once all that was written would survive a power cut. */
  sync(): Promise<void>
  /** Waits for what is under way; there is nothing after it. Never throws, and is harmless when repeated. */
  close(): Promise<void>
}

export interface GrowingFileParts {
  readonly handle: FileHandle
  /** The same file. */
  readonly direct: DirectFile
  /** How the file is synced. */
  readonly sync: () => Promise<void>
  /** Where it ends now; all of that is synced. */
  readonly from: number
}

export function growingFile({ handle, direct, sync, from }: GrowingFileParts): GrowingFile {
  let position = from
  let synced: number | null = null
  let syncingUpTo = from
  let syncing: Promise<void> | null = null
  /** The writes under way in their order, each with where it begins. Any of them may end first. */
  const writing = new Map<Promise<void>, number>()
  let failure: Error | null = null

  function assertGoing(): void {
    if (failure !== null) throw failure
  }

  function fail(error: unknown): void {
    failure ??= asStoreFailure(error)
  }

  /** Every byte before it is written. */
  function written(): number {
    const [first = position] = writing.values()
    return first
  }

  /** Its failure is final: after a failed sync the kernel may have dropped the bytes, and the next one succeed. */
  function startSync(): Promise<void> {
    const upTo = written()
    syncingUpTo = upTo
    syncing = sync()
      .then(() => {
        synced = upTo
      })
      .catch(fail)
      .finally(() => {
        syncing = null
      })
    return syncing
  }

  /**
   * Into the page cache and on this thread: while a write elsewhere is awaited, the server gathers what each sender sends
   * meanwhile, which takes more memory with many senders and more time with one.
   */
  function writeCached(bytes: Uint8Array, from: number): void {
    for (let done = 0; done < bytes.byteLength; ) {
      done += writeSync(handle.fd, bytes, done, bytes.byteLength - done, from + done)
    }
  }

  async function writeAt(bytes: Uint8Array, from: number): Promise<void> {
    const done = direct.mayTake(bytes, from) ? await direct.write(bytes, from) : 0
    writeCached(bytes.subarray(done), from + done)
  }

  return {
    get position() {
      return position
    },

    get synced() {
      return synced ?? from
    },

    async write(chunk) {
      assertGoing()
      const from = position
      position += chunk.byteLength
      const work = writeAt(chunk, from)
        .catch(fail)
        .finally(() => writing.delete(work))
      writing.set(work, from)
      await work
      assertGoing()
      if (syncing === null && written() - syncingUpTo >= SYNC_EVERY) startSync()
    },

    async sync() {
      await Promise.all(writing.keys())
      await syncing
      assertGoing()
      // A sync with nothing to do costs nearly as much as another one.
      if (synced === position) return
      await startSync()
      assertGoing()
    },

    async close() {
      failure ??= new Error('the file was closed')
      await Promise.all(writing.keys())
      await syncing
      await direct.close()
      await handle.close().catch(() => {})
    },
  }
}

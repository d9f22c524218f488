import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { DirectFile } from './direct-writing.ts'
import { asStoreFailure, failing } from './disk-files.ts'

/** A growing file is synced every so many bytes, so that the last sync is short. */
const SYNC_EVERY = 4 * 1024 * 1024

/** A file that is written from one end to the other, and synced meanwhile. Throws StoreFailure. */
export interface GrowingFile {
  /** Where the next byte goes. */
  readonly position: number
  /** Every byte before it would survive a power cut. */
  readonly synced: number
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
  let writing: Promise<void> | null = null
  let failure: Error | null = null

  function assertGoing(): void {
    if (failure !== null) throw failure
  }

  /** Its failure is final: after a failed sync the kernel may have dropped the bytes, and the next one succeed. */
  function startSync(): Promise<void> {
    const upTo = position
    syncingUpTo = upTo
    syncing = sync()
      .then(() => {
        synced = upTo
      })
      .catch((error: unknown) => {
        failure ??= asStoreFailure(error)
      })
      .finally(() => {
        syncing = null
      })
    return syncing
  }

  /**
   * Into the page cache and on this thread: while a write elsewhere is awaited, the server gathers what each sender sends
   * meanwhile, which takes more memory with many senders and more time with one.
   */
  function writeCached(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength; ) {
      const written = writeSync(handle.fd, bytes, done, bytes.byteLength - done, position)
      done += written
      position += written
    }
  }

  async function writeAll(bytes: Uint8Array): Promise<void> {
    if (!direct.mayTake(bytes, position)) return writeCached(bytes)
    const written = await direct.write(bytes, position)
    position += written
    writeCached(bytes.subarray(written))
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
      writing = failing(() => writeAll(chunk))
      await writing
      if (syncing === null && position - syncingUpTo >= SYNC_EVERY) startSync()
    },

    async sync() {
      await syncing
      assertGoing()
      // A sync with nothing to do costs nearly as much as another one.
      if (synced === position) return
      await startSync()
      assertGoing()
    },

    async close() {
      failure ??= new Error('the file was closed')
      await writing?.catch(() => {})
      await syncing
      await direct.close()
      await handle.close().catch(() => {})
    },
  }
}

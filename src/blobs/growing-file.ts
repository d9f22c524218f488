import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
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
  /** Waits for the sync that is under way; there is no other after it. Never throws, and is harmless when repeated. */
  close(): Promise<void>
}

/** `sync` is how the file is synced; `from` is where it ends now, and all of that is synced. */
export function growingFile(handle: FileHandle, sync: () => Promise<void>, from = 0): GrowingFile {
  let position = from
  let synced: number | null = null
  let syncingUpTo = from
  let syncing: Promise<void> | null = null
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

  return {
    get position() {
      return position
    },

    get synced() {
      return synced ?? from
    },

    async write(chunk) {
      assertGoing()
      // Into the page cache and on this thread: while a write elsewhere is awaited, the server gathers what each
      // sender sends meanwhile, which takes more memory with many senders and more time with one.
      await failing(async () => {
        for (let done = 0; done < chunk.byteLength; ) {
          const written = writeSync(handle.fd, chunk, done, chunk.byteLength - done, position)
          done += written
          position += written
        }
      })
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
      await syncing
      await handle.close().catch(() => {})
    },
  }
}

import type { UploadId } from '../../domain/ids.ts'
import { type Digest, RunningDigest } from './content-hash-messages.ts'
import { HashingThread, type Lane, SharedMemory, type ThreadedContent } from './hashing-thread.ts'

export interface ContentHash<D = Digest> {
  /** The bytes may be reused once the promise is settled. Several calls may be pending. */
  update(bytes: Uint8Array): Promise<void>
  /** SHA-256 and CRC-32 of all bytes up to and including `last`. Call once. */
  digest(last: Uint8Array): Promise<D>
  /** Abandons the content. Harmless after `digest`. */
  drop(): void
}

export const unhashed: ContentHash<null> = {
  async update() {},
  digest: async () => null,
  drop() {},
}

export interface ContentHashing {
  start(): ContentHash
  /** Null when all memory is lent. */
  lend(): Lane | null
  close(): void
}

/** Hashes on a thread: SHA-256 takes about as long as all other work on an uploaded byte. */
export function startContentHashing(): ContentHashing {
  const memory = new SharedMemory()
  const thread = new HashingThread(memory.bytes)
  return {
    start: () => hashedInThread(thread),
    lend: () => memory.lend(),
    close: () => thread.close(),
  }
}

/**
 * Small contents, and those without shared memory, are hashed on the main thread: with many in the thread each would
 * wait while its client fills more memory.
 */
function hashedInThread(thread: HashingThread): ContentHash {
  let threaded: ThreadedContent | null = null
  let here: RunningDigest | null = null
  return {
    async update(bytes) {
      if (threaded === null && here === null) {
        if (thread.sees(bytes)) threaded = thread.start()
        else here = new RunningDigest()
      }
      here?.update(bytes)
      await threaded?.update(bytes)
    },

    async digest(last) {
      if (threaded !== null) {
        const [, digest] = await Promise.all([threaded.update(last), threaded.digest()])
        return digest
      }
      here ??= new RunningDigest()
      here.update(last)
      return here.digest()
    },

    drop: () => threaded?.drop(),
  }
}

/** Covers uploads that this process has hashed from their first byte on. */
export interface RunningHashes {
  /** Null when this process has not hashed all bytes before. */
  take(upload: UploadId, offset: number): ContentHash | null
  leave(upload: UploadId, offset: number, hash: ContentHash): void
}

/** Other uploads are read back when whole. */
const MOST_KEPT = 5000

export function createRunningHashes(hashing: ContentHashing): RunningHashes {
  /** Oldest first. */
  const kept = new Map<UploadId, { readonly offset: number; readonly hash: ContentHash }>()

  function drop(upload: UploadId): void {
    kept.get(upload)?.hash.drop()
    kept.delete(upload)
  }

  return {
    take(upload, offset) {
      const left = kept.get(upload)
      if (left?.offset === offset) {
        kept.delete(upload)
        return left.hash
      }
      drop(upload)
      return offset === 0 ? hashing.start() : null
    },

    leave(upload, offset, hash) {
      drop(upload)
      kept.set(upload, { offset, hash })
      const [oldest] = kept.keys()
      if (kept.size > MOST_KEPT && oldest !== undefined) drop(oldest)
    },
  }
}

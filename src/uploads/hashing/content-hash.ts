import type { Digest } from './content-hash-messages.ts'
import { HashingThread, type ThreadedContent } from './hashing-thread.ts'
import { RunningDigest } from './running-digest.ts'
import { type Lane, SharedMemory } from './shared-memory.ts'

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

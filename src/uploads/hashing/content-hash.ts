import type { Digest } from './content-hash-messages.ts'
import { HashingThread, type ThreadedContent } from './hashing-thread.ts'
import { RunningDigest } from './running-digest.ts'
import { type Lane, SharedMemory } from './shared-memory.ts'

/** The hashes of one content as it streams by. */
export interface ContentHash<D = Digest> {
  /** Takes the bytes, which are the caller's again when the promise is settled. Several may be under way. */
  update(bytes: Uint8Array): Promise<void>
  /** SHA-256 and CRC-32 of all there was, these the last of them. Called once. */
  digest(last: Uint8Array): Promise<D>
  /** Lets go of a content that nobody wants any more. Harmless after `digest`. */
  drop(): void
}

/** Of a content that nobody hashes on its way. */
export const unhashed: ContentHash<null> = {
  async update() {},
  digest: async () => null,
  drop() {},
}

export interface ContentHashing {
  start(): ContentHash
  /** Memory for one content that is hashed from there without a copy; null when others have all there is. */
  lend(): Lane | null
  close(): void
}

/**
 * Hashes in a thread of its own: SHA-256 takes about as long as all else that is done to an uploaded byte, and
 * beside it the server goes on receiving.
 */
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
 * A content goes to the thread with its first block, if the thread sees it there. Others are hashed on this thread as
 * they come: small ones, which are over before a block is full, and those that got no memory. With many in the thread, each
 * would wait for it while its sender fills more memory, and all cores have enough to do anyway.
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

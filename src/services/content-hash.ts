import { crc32 } from 'node:zlib'
import type { Sha256 } from '../domain/ids.ts'
import type { Digest } from './content-hash-messages.ts'
import { HashingThread } from './hashing-thread.ts'

/** The hashes of one content as it streams by. */
export interface ContentHash {
  /** Takes the bytes, which are the caller's again at once. Resolves when it wants more. */
  update(chunk: Uint8Array): Promise<void>
  /** More may come, but not soon: what is held for this content alone is given to others. */
  rest(): void
  /** SHA-256 and CRC-32 of all there was. Called once, at the end. */
  digest(): Promise<Digest>
  /** Lets go of a content that nobody wants any more. Harmless after `digest`. */
  drop(): void
}

export interface ContentHashing {
  start(): ContentHash
  close(): void
}

/**
 * Hashes in a thread of its own: SHA-256 takes about as long as all else that is done to an uploaded byte, and
 * beside it the server goes on receiving.
 */
export function startContentHashing(): ContentHashing {
  const thread = new HashingThread()
  return {
    start: () => (thread.isBusy() ? hashHere() : thread.start()),
    close: () => thread.close(),
  }
}

/** Hashes on this thread, as the bytes come. */
function hashHere(): ContentHash {
  const sha256 = new Bun.CryptoHasher('sha256')
  let checksum = 0
  return {
    async update(chunk) {
      sha256.update(chunk)
      checksum = crc32(chunk, checksum)
    },
    rest() {},
    async digest() {
      return { sha256: sha256.digest('hex') as Sha256, crc32: checksum }
    },
    drop() {},
  }
}

/** Compares the bytes of blobs with their hashes, while they are passed on. */
import { startContentHashing } from '../../uploads/hashing/content-hash.ts'
import { HashingWriter } from '../../uploads/hashing-writer.ts'
import type { BlobToMove } from './relocated-blobs.rows.ts'

interface Passing {
  readonly signal: AbortSignal
  readonly onChunk: (bytes: number) => void
  /** Null: nobody takes the bytes. */
  readonly store: ((bytes: Uint8Array) => Promise<void>) | null
}

/** Passes all bytes on, and tells whether they are those of the blob. Throws what reading and storing throws. */
type Compare = (blob: BlobToMove, body: AsyncIterable<Uint8Array>, passing: Passing) => Promise<boolean>

export interface ByteVerifier {
  /** What leaves the old store. */
  readonly departure: Compare
  /** What the new one has. */
  readonly arrival: Compare
}

/** Hashes on this thread: for one that has nothing else to do. */
const here: Compare = async (blob, body, { signal, onChunk, store }) => {
  const hash = new Bun.CryptoHasher('sha256')
  let size = 0
  for await (const chunk of body) {
    signal.throwIfAborted()
    hash.update(chunk)
    await store?.(chunk)
    onChunk(chunk.byteLength)
    size += chunk.byteLength
  }
  return size === blob.size && hash.digest('hex') === blob.sha256
}

export const verifyInline: ByteVerifier = { departure: here, arrival: here }

/** Hashes on threads, beside reading and storing. */
export function verifyOnThreads(): ByteVerifier & { close(): void } {
  const threads = [startContentHashing(), startContentHashing()] as const
  const [departure, arrival] = threads.map(comparedOn)
  if (departure === undefined || arrival === undefined) throw new Error('a thread is missing')
  return {
    departure: shortHere(departure),
    arrival: shortHere(arrival),
    close() {
      for (const thread of threads) thread.close()
    },
  }
}

/** To hand a small one over to a thread takes longer than to hash it. */
const shortHere =
  (onThread: Compare): Compare =>
  (blob, body, passing) =>
    (blob.size <= SHORT ? here : onThread)(blob, body, passing)

const SHORT = 256 * 1024

function comparedOn(hashing: ReturnType<typeof startContentHashing>): Compare {
  return async (blob, body, { signal, onChunk, store }) => {
    const hash = hashing.start()
    const writer = new HashingWriter({ hashing, hash, store: store ?? (async () => {}), from: 0 })
    let size = 0
    try {
      for await (const chunk of body) {
        signal.throwIfAborted()
        await writer.write(chunk)
        onChunk(chunk.byteLength)
        size += chunk.byteLength
      }
      return size === blob.size && (await writer.end()).sha256 === blob.sha256
    } finally {
      await writer.rest()
      hash.drop()
    }
  }
}

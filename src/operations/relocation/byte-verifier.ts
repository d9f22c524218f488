import { startContentHashing } from '../../uploads/hashing/content-hash.ts'
import { HashingWriter } from '../../uploads/hashing-writer.ts'
import type { BlobToMove } from './relocated-blobs.rows.ts'

interface Passing {
  readonly signal: AbortSignal
  readonly onChunk: (bytes: number) => void
  readonly store: ((bytes: Uint8Array) => Promise<void>) | null
}

/** Whether the bytes are the blob's; passes them on. Throws what reading and storing throw. */
type Compare = (blob: BlobToMove, body: AsyncIterable<Uint8Array>, passing: Passing) => Promise<boolean>

export interface ByteVerifier {
  readonly departure: Compare
  readonly arrival: Compare
}

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

/** Handing over a small blob takes longer than hashing it. */
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

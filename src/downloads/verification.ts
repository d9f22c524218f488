import type { Sha256 } from '../domain/ids.ts'
import type { SourceChunks } from '../server/answers/answers.ts'
import { RunningDigest } from '../uploads/hashing/content-hash-messages.ts'
import { HashingThread, SharedMemory, type ThreadedContent } from '../uploads/hashing/hashing-thread.ts'

export interface Expected {
  readonly size: number
  readonly sha256: Sha256
}

/** Bytes up to which the main thread hashes: handing over takes longer. */
const SMALL = 64 * 1024

export type Verification = ReturnType<typeof startVerification>

export function startVerification() {
  const memory = new SharedMemory()
  const thread = new HashingThread(memory.bytes)
  return {
    /** For a whole content. Throws what `differs` returns in place of the last chunk when the hash differs. */
    verified: (chunks: SourceChunks, expected: Expected, differs: () => Error): SourceChunks =>
      new VerifiedChunks(chunks, {
        expected,
        differs,
        hash: expected.size > SMALL ? new PassingHash(thread.start(), memory) : smallHash(),
      }),
    close: (): void => thread.close(),
  }
}

interface BodyHash {
  /** Resolves when another chunk may be passed; do not change the chunk until then. */
  update(chunk: Uint8Array): Promise<void>
  sha256(): Promise<Sha256>
  drop(): void
}

function smallHash(): BodyHash {
  const digest = new RunningDigest()
  return {
    update: async (chunk) => digest.update(chunk),
    sha256: async () => digest.digest().sha256,
    drop() {},
  }
}

/** Copies each chunk to shared memory while it is hashed: slow receivers hold none. */
class PassingHash implements BodyHash {
  readonly #content: ThreadedContent
  readonly #memory: SharedMemory

  constructor(content: ThreadedContent, memory: SharedMemory) {
    this.#content = content
    this.#memory = memory
  }

  async update(chunk: Uint8Array): Promise<void> {
    const lane = this.#memory.lend()
    const block = lane?.blocks.find(({ byteLength }) => byteLength >= chunk.byteLength)
    try {
      block?.set(chunk)
      await this.#content.update(block?.subarray(0, chunk.byteLength) ?? chunk)
    } finally {
      lane?.giveBack()
    }
  }

  async sha256(): Promise<Sha256> {
    return (await this.#content.digest()).sha256
  }

  drop(): void {
    this.#content.drop()
  }
}

interface VerifiedParts {
  readonly expected: Expected
  readonly differs: () => Error
  readonly hash: BodyHash
}

class VerifiedChunks implements SourceChunks {
  readonly #chunks: SourceChunks
  readonly #parts: VerifiedParts
  #seen = 0
  #isCancelled = false
  /** Hash of the previous chunk, computed while that is sent. */
  #hashed = Promise.resolve()

  constructor(chunks: SourceChunks, parts: VerifiedParts) {
    this.#chunks = chunks
    this.#parts = parts
  }

  async next(): Promise<Uint8Array | null> {
    try {
      return await this.#next()
    } catch (error) {
      this.cancel()
      throw error
    }
  }

  async #next(): Promise<Uint8Array | null> {
    const { expected, differs, hash } = this.#parts
    const chunk = await this.#chunks.next()
    await this.#hashed
    if (chunk === null || this.#isCancelled) return null
    this.#hashed = hash.update(chunk)
    // The next call reports it.
    this.#hashed.catch(() => {})
    this.#seen += chunk.byteLength
    if (this.#seen < expected.size) return chunk
    await this.#hashed
    if (this.#isCancelled) return null
    const sha256 = await hash.sha256()
    if (this.#isCancelled) return null
    if (sha256 !== expected.sha256) throw differs()
    return chunk
  }

  cancel(): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#chunks.cancel()
    // Only once the thread has all chunks.
    const drop = () => this.#parts.hash.drop()
    this.#hashed.then(drop, drop)
  }

  release(): void {
    this.#chunks.release()
  }
}

import { crc32 } from 'node:zlib'
import type { Sha256 } from '../domain/ids.ts'
import type { Digest, HashReply, HashRequest } from './content-hash-messages.ts'

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

/** What is hashed at a time. A content that is smaller never leaves this thread. */
const BLOCK = 256 * 1024
/** Blocks of one content that may wait for the worker: one is hashed while the next is filled. */
const MOST_WAITING = 2
/**
 * Contents that are hashed beside this thread at a time. With many, each would wait for the worker while its sender
 * fills the memory, and both cores have enough to do anyway.
 */
const MOST_BESIDE = 4
/** Blocks kept for the next content. */
const MOST_SPARE = MOST_BESIDE * (MOST_WAITING + 1)

/**
 * Hashes in a thread of its own: SHA-256 takes about as long as all else that is done to an uploaded byte, and
 * beside it the server goes on receiving.
 */
export function startContentHashing(): ContentHashing {
  const worker = new Worker(new URL('./content-hash-worker.ts', import.meta.url))
  worker.unref()
  const contents = new Map<number, WaitingContent>()
  const spare: ArrayBuffer[] = []
  let failure: Error | null = null
  let count = 0
  let beside = 0

  worker.onmessage = ({ data }: MessageEvent<HashReply>) => {
    if (data.block !== null && spare.length < MOST_SPARE) spare.push(data.block)
    contents.get(data.content)?.answered(data)
  }
  worker.onerror = (event) => {
    failure = new Error(`the hashing thread failed: ${event.message}`)
    for (const content of contents.values()) content.failed(failure)
  }

  return {
    start() {
      if (beside >= MOST_BESIDE) return hashHere()
      beside++
      let isBeside = true
      const over = () => {
        if (isBeside) beside--
        isBeside = false
      }
      const number = ++count
      const content = new WaitingContent()
      const newBlock = () => new Uint8Array(spare.pop() ?? new ArrayBuffer(BLOCK))
      let block: Uint8Array<ArrayBuffer> | null = newBlock()
      let filled = 0
      let isAway = false

      function send(full: Uint8Array<ArrayBuffer>, last: boolean): void {
        if (!isAway) contents.set(number, content)
        isAway = true
        content.waiting++
        const request: HashRequest = { content: number, block: full.buffer, length: filled, last }
        worker.postMessage(request, [full.buffer])
        filled = 0
        block = null
      }

      return {
        async update(chunk) {
          for (let at = 0; at < chunk.byteLength; ) {
            if (failure !== null) throw failure
            if (!isBeside) beside++
            isBeside = true
            block ??= newBlock()
            const part = chunk.subarray(at, at + BLOCK - filled)
            block.set(part, filled)
            filled += part.byteLength
            at += part.byteLength
            if (filled < BLOCK) continue
            send(block, false)
            if (content.waiting >= MOST_WAITING) await content.hasRoom()
          }
        },

        rest() {
          if (block !== null && filled > 0) send(block, false)
          else if (block !== null && spare.length < MOST_SPARE) spare.push(block.buffer)
          block = null
          over()
        },

        async digest() {
          over()
          if (failure !== null) throw failure
          block ??= newBlock()
          if (!isAway) {
            const all = block.subarray(0, filled)
            const sha256 = new Bun.CryptoHasher('sha256').update(all).digest('hex') as Sha256
            if (spare.length < MOST_SPARE) spare.push(block.buffer)
            return { sha256, crc32: crc32(all) }
          }
          send(block, true)
          try {
            return await content.digest()
          } finally {
            contents.delete(number)
          }
        },

        drop() {
          over()
          if (!contents.delete(number)) return
          const request: HashRequest = { content: number, block: null, length: 0, last: true }
          worker.postMessage(request)
        },
      }
    },

    close: () => worker.terminate(),
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

/** What of a content the worker has not answered yet. */
class WaitingContent {
  waiting = 0
  #room: PromiseWithResolvers<void> | null = null
  readonly #digest = Promise.withResolvers<Digest>()

  constructor() {
    // Whoever asks for the digest hears of a failure; a content that was dropped has nobody to ask.
    this.#digest.promise.catch(() => {})
  }

  answered(reply: HashReply): void {
    this.waiting--
    this.#room?.resolve()
    this.#room = null
    if (reply.digest !== null) this.#digest.resolve(reply.digest)
  }

  failed(error: Error): void {
    this.#room?.reject(error)
    this.#digest.reject(error)
  }

  hasRoom(): Promise<void> {
    this.#room ??= Promise.withResolvers<void>()
    return this.#room.promise
  }

  digest(): Promise<Digest> {
    return this.#digest.promise
  }
}

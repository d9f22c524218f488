import { crc32 } from 'node:zlib'
import type { Sha256 } from '../domain/ids.ts'
import type { Digest, HashReply, HashRequest } from './content-hash-messages.ts'

/** What is hashed at a time. A content that is smaller never leaves this thread. */
const BLOCK = 256 * 1024
/** Blocks of one content: some are hashed while the next is filled. */
const BLOCKS = 4
/**
 * Contents that have memory at a time. With many, each would wait for the thread while its sender fills more of it, and
 * both cores have enough to do anyway.
 */
const MOST_CONTENTS = 4

/** The thread, and who shares memory with it. */
export class HashingThread {
  readonly #worker = new Worker(new URL('./content-hash-worker.ts', import.meta.url))
  readonly #contents = new Map<number, ThreadedHash>()
  /** Memory for the next contents. */
  readonly #spare: SharedArrayBuffer[] = []
  #failure: Error | null = null
  #count = 0

  constructor() {
    this.#worker.unref()
    this.#worker.onmessage = ({ data }: MessageEvent<HashReply>) => {
      this.#contents.get(data.content)?.answered(data)
    }
    this.#worker.onerror = (event) => {
      this.#failure = new Error(`the hashing thread failed: ${event.message}`)
      for (const content of this.#contents.values()) content.failed(this.#failure)
    }
  }

  isBusy(): boolean {
    return this.#contents.size >= MOST_CONTENTS
  }

  start(): ThreadedHash {
    return new ThreadedHash(this, ++this.#count)
  }

  lend(number: number, content: ThreadedHash): SharedArrayBuffer {
    this.#contents.set(number, content)
    return this.#spare.pop() ?? new SharedArrayBuffer(BLOCKS * BLOCK)
  }

  takeBack(number: number, memory: SharedArrayBuffer): void {
    this.#contents.delete(number)
    if (this.#spare.length < MOST_CONTENTS) this.#spare.push(memory)
  }

  send(request: HashRequest): void {
    this.#worker.postMessage(request)
  }

  assertGoing(): void {
    if (this.#failure !== null) throw this.#failure
  }

  close(): void {
    this.#worker.terminate()
  }
}

/**
 * The hashes of one content on its way through the thread. Its blocks are filled in turn, each again when it has been
 * hashed: memory is shared and told of once, because handing it over with every block makes both threads collect garbage
 * all the time.
 */
class ThreadedHash {
  readonly #thread: HashingThread
  readonly #number: number
  /** Null while nobody is about to send. */
  #memory: Uint8Array<SharedArrayBuffer> | null
  /** The block that is being filled. */
  #block = 0
  #filled = 0
  /** Blocks that the thread has not answered yet. */
  #waiting = 0
  #isToldOfMemory = false
  #isInThread = false
  /** The memory goes back when the thread is done with it. */
  #isLeaving = false
  #room: PromiseWithResolvers<void> | null = null
  readonly #digest = Promise.withResolvers<Digest>()

  constructor(thread: HashingThread, number: number) {
    this.#thread = thread
    this.#number = number
    this.#memory = new Uint8Array(thread.lend(number, this))
    // Whoever asks for the digest hears of a failure; a content that was dropped has nobody to ask.
    this.#digest.promise.catch(() => {})
  }

  async update(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.byteLength; ) {
      this.#thread.assertGoing()
      if (this.#waiting >= BLOCKS) await this.#hasRoom()
      const memory = this.#stay()
      const part = chunk.subarray(at, at + BLOCK - this.#filled)
      memory.set(part, this.#block * BLOCK + this.#filled)
      this.#filled += part.byteLength
      at += part.byteLength
      if (this.#filled === BLOCK) this.#send(false)
    }
  }

  rest(): void {
    if (this.#filled > 0) this.#send(false)
    this.#leave()
  }

  async digest(): Promise<Digest> {
    this.#thread.assertGoing()
    const memory = this.#stay()
    try {
      if (!this.#isInThread) return digestOf(memory.subarray(0, this.#filled))
      this.#send(true)
      this.#isInThread = false
      return await this.#digest.promise
    } finally {
      this.#leave()
    }
  }

  drop(): void {
    if (this.#isInThread) this.#thread.send({ kind: 'drop', content: this.#number })
    this.#isInThread = false
    this.#leave()
  }

  answered({ digest }: HashReply): void {
    this.#waiting--
    this.#room?.resolve()
    this.#room = null
    if (digest !== null) this.#digest.resolve(digest)
    if (this.#isLeaving) this.#leave()
  }

  failed(error: Error): void {
    this.#room?.reject(error)
    this.#digest.reject(error)
  }

  /** The memory, which is borrowed again after a rest. */
  #stay(): Uint8Array<SharedArrayBuffer> {
    this.#isLeaving = false
    if (this.#memory === null) {
      this.#memory = new Uint8Array(this.#thread.lend(this.#number, this))
      this.#isToldOfMemory = false
      this.#block = 0
    }
    return this.#memory
  }

  #leave(): void {
    this.#isLeaving = true
    if (this.#memory === null || this.#waiting > 0) return
    this.#thread.takeBack(this.#number, this.#memory.buffer)
    this.#memory = null
  }

  #send(last: boolean): void {
    const content = this.#number
    const memory = this.#stay().buffer
    if (!this.#isToldOfMemory) this.#thread.send({ kind: 'memory', content, memory })
    this.#isToldOfMemory = true
    this.#isInThread = true
    this.#thread.send({ kind: 'block', content, offset: this.#block * BLOCK, length: this.#filled, last })
    this.#waiting++
    this.#block = (this.#block + 1) % BLOCKS
    this.#filled = 0
  }

  #hasRoom(): Promise<void> {
    this.#room ??= Promise.withResolvers<void>()
    return this.#room.promise
  }
}

function digestOf(bytes: Uint8Array): Digest {
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex') as Sha256
  return { sha256, crc32: crc32(bytes) }
}

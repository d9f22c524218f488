import { entryPath } from '../../program/entries.ts'
import type { Digest, HashReply, HashRequest } from './content-hash-messages.ts'

/** Bytes. */
const COPIED = 256 * 1024

export class HashingThread {
  readonly #worker = new Worker(entryPath('uploads/hashing/content-hash-worker'))
  readonly #contents = new Map<number, ThreadedContent>()
  readonly #memory: SharedArrayBuffer
  #failure: Error | null = null
  #count = 0

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory
    this.#worker.unref()
    this.#worker.onmessage = ({ data }: MessageEvent<HashReply>) => {
      this.#contents.get(data.content)?.answered(data)
    }
    this.#worker.onerror = (event) => {
      this.#failure = new Error(`the hashing thread failed: ${event.message}`)
      for (const content of this.#contents.values()) content.failed(this.#failure)
    }
    this.send({ kind: 'memory', memory })
  }

  start(): ThreadedContent {
    const number = ++this.#count
    const content = new ThreadedContent(this, number)
    this.#contents.set(number, content)
    return content
  }

  /** Call once all requests were answered. */
  forget(content: number): void {
    this.#contents.delete(content)
  }

  sees(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory
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

export class ThreadedContent {
  readonly #thread: HashingThread
  readonly #number: number
  #isOver = false
  readonly #unanswered: PromiseWithResolvers<Digest | null>[] = []

  constructor(thread: HashingThread, number: number) {
    this.#thread = thread
    this.#number = number
  }

  async update(bytes: Uint8Array): Promise<void> {
    const content = this.#number
    const { byteOffset: offset, byteLength: length } = bytes
    if (this.#thread.sees(bytes)) {
      await this.#ask({ kind: 'shared', content, offset, length })
      return
    }
    for (let at = 0; at < length; at += COPIED) {
      await this.#ask({ kind: 'copied', content, bytes: bytes.slice(at, at + COPIED) })
    }
  }

  async digest(): Promise<Digest> {
    const digest = await this.#ask({ kind: 'end', content: this.#number })
    if (digest === null) throw new Error('the hashing thread has answered in another order')
    this.#end()
    return digest
  }

  /** Harmless after `digest`. */
  drop(): void {
    if (this.#isOver) return
    this.#end()
    this.#thread.send({ kind: 'drop', content: this.#number })
  }

  answered({ digest }: HashReply): void {
    this.#unanswered.shift()?.resolve(digest)
    if (this.#isOver) this.#end()
  }

  failed(error: Error): void {
    for (const waiting of this.#unanswered.splice(0)) waiting.reject(error)
  }

  #ask(request: HashRequest): Promise<Digest | null> {
    this.#thread.assertGoing()
    this.#thread.send(request)
    const answer = Promise.withResolvers<Digest | null>()
    this.#unanswered.push(answer)
    return answer.promise
  }

  #end(): void {
    this.#isOver = true
    if (this.#unanswered.length === 0) this.#thread.forget(this.#number)
  }
}

/** Bytes. */
export const BLOCK = 1024 * 1024

/** Some blocks are hashed and stored while the next is filled. */
const BLOCKS = 4

const LANES = 4

export interface Lane {
  readonly blocks: readonly Uint8Array[]
  /** Call once, when no thread reads the blocks any more. */
  giveBack(): void
}

/** Created once: passing new memory to another thread keeps both collecting garbage. */
export class SharedMemory {
  readonly bytes = new SharedArrayBuffer(LANES * BLOCKS * BLOCK)
  /** The lane used last comes first: its pages are resident. */
  readonly #free = Array.from({ length: LANES }, (_, number) => number)

  lend(): Lane | null {
    const number = this.#free.pop()
    if (number === undefined) return null
    const blocks = Array.from({ length: BLOCKS }, (_, index) => {
      return new Uint8Array(this.bytes, (number * BLOCKS + index) * BLOCK, BLOCK)
    })
    return { blocks, giveBack: () => this.#free.push(number) }
  }
}

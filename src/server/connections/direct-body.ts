import type { NodeRequest } from './node-dispatch.ts'
import type { Turn } from './turns.ts'

/** Bytes that may come before anybody asks for them. */
const AHEAD = 256 * 1024

/** Bytes of bodies after which garbage is collected. */
const COLLECT_AFTER = 64 * 1024 * 1024
let copied = 0

/**
 * The collector does not see how much memory the chunks of bodies keep: of 2,000 lists of 0.9 MB that were refused at once,
 * it left 1.2 GB for later.
 */
function countCopied(bytes: number): void {
  copied += bytes
  if (copied < COLLECT_AFTER) return
  copied = 0
  Bun.gc(false)
}

/** A request's body as it comes. */
export class DirectBody {
  readonly #request: NodeRequest
  readonly #invite: () => void
  readonly #ahead: Uint8Array[]
  #bytesAhead = 0
  #isPaused = false
  #isOver: boolean
  #isGone = false
  #dropped: ((bytes: number) => void) | null = null
  #wake = () => {}

  /** `invite`: asks a sender that waits for it. Called before the first read. */
  constructor({ request, early }: Turn, invite: () => void) {
    this.#request = request
    this.#invite = invite
    this.#ahead = early
    this.#isOver = request.isBodyComplete
    request.receiveBody({
      came: (chunk, isLast) => this.#came(chunk, isLast),
      aborted: () => this.abort(),
    })
    if (!this.#isOver && early.length > 0) request.resume()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Fails with AbortError when the other end leaves before the end. */
  stream(): ReadableStream<Uint8Array> {
    let isInvited = false
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          if (!isInvited && !this.#isOver) this.#invite()
          isInvited = true
          while (this.#isAwaited()) await new Promise<void>((resolve) => (this.#wake = resolve))
          if (this.#dropped !== null) return
          const chunk = this.#taken()
          if (chunk !== undefined) controller.enqueue(chunk)
          else if (this.#isOver) controller.close()
          else controller.error(new DOMException('gone', 'AbortError'))
        },
        cancel: () => this.#drop(() => {}),
      },
      { highWaterMark: 0 },
    )
  }

  /** Fails whoever reads it. */
  abort(): void {
    this.#isGone = true
    this.#wake()
  }

  /** Takes what still comes and drops it, up to `most` bytes. Resolves at the end, or when the connection is gone. */
  async rest(most: number): Promise<void> {
    let left = most
    this.#drop((bytes) => {
      left -= bytes
    })
    while (!this.#isOver && !this.#isGone && left > 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Drops what nobody has read, so that the next request can come; calls `tooMuch` once where that is over `most` bytes. */
  dropUnread(most: number, tooMuch: () => void): void {
    if (this.#isOver || this.#isGone) return
    let left = most
    this.#drop((bytes) => {
      if (left >= 0 && left < bytes) tooMuch()
      left -= bytes
    })
  }

  #isAwaited(): boolean {
    return this.#ahead.length === 0 && !this.#isOver && !this.#isGone && this.#dropped === null
  }

  #taken(): Uint8Array | undefined {
    const chunk = this.#ahead.shift()
    this.#bytesAhead -= chunk?.byteLength ?? 0
    if (this.#isPaused && this.#ahead.length === 0) {
      this.#isPaused = false
      this.#request.resume()
    }
    return chunk
  }

  #came(chunk: Uint8Array | undefined, isLast: boolean): void {
    if (this.#dropped !== null) this.#dropped(chunk?.byteLength ?? 0)
    else if (chunk !== undefined) {
      this.#ahead.push(chunk.slice())
      this.#bytesAhead += chunk.byteLength
    }
    if (chunk !== undefined) countCopied(chunk.byteLength)
    this.#isOver ||= isLast
    if (this.#bytesAhead > AHEAD && !isLast && !this.#isPaused) {
      this.#isPaused = true
      this.#request.pauseBody()
    }
    this.#wake()
  }

  #drop(came: (bytes: number) => void): void {
    this.#dropped = came
    this.#ahead.length = 0
    this.#bytesAhead = 0
    if (!this.#isOver && !this.#isGone) this.#request.resume()
    this.#wake()
  }
}

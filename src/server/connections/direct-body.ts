import type { NodeRequest } from './node-dispatch.ts'
import type { PipelinedRequest } from './pipeline-queue.ts'

/** Bytes of a short body that may come before anybody asks for them. Of a long one no further chunk is received then. */
const AHEAD = 256 * 1024

/** Bytes of bodies after which garbage is collected. */
const COLLECT_AFTER = 64 * 1024 * 1024
let received = 0

/**
 * The collector does not see how much memory the chunks of bodies keep: of 2,000 lists of 0.9 MB that were refused at once,
 * it left 1.2 GB for later.
 */
function countReceived(bytes: number): void {
  received += bytes
  if (received < COLLECT_AFTER) return
  received = 0
  Bun.gc(false)
}

/** A request's body as it comes. */
export class DirectBody {
  readonly #request: NodeRequest
  readonly #invite: () => void
  readonly #flowed: ((bytes: number) => void) | null
  readonly #mostAhead: number
  readonly #ahead: Uint8Array[]
  #bytesAhead = 0
  #isPaused = false
  #isOver: boolean
  #isGone = false
  #dropped: ((bytes: number) => void) | null = null
  /** Resumes whoever waits for more; null when nobody does. */
  #wake: (() => void) | null = null

  /**
   * `invite`: asks a sender that waits for it. Called before the first read. `flowed`: told of the bytes of a long body as they
   * come; null for a short one.
   */
  constructor(
    { request, early }: PipelinedRequest,
    { invite, flowed }: { readonly invite: () => void; readonly flowed: ((bytes: number) => void) | null },
  ) {
    this.#request = request
    this.#invite = invite
    this.#flowed = flowed
    this.#mostAhead = flowed === null ? AHEAD : 0
    this.#ahead = early
    this.#isOver = request.isBodyComplete
    request.receiveBody({
      came: (chunk, isLast) => this.#take(chunk, isLast),
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
          while (this.#isAwaited()) await this.#more()
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
    this.#awake()
  }

  /** Takes what still comes and drops it, up to `most` bytes. Resolves at the end, or when the connection is gone. */
  async rest(most: number): Promise<void> {
    let left = most
    this.#drop((bytes) => {
      left -= bytes
    })
    while (!this.#isOver && !this.#isGone && left > 0) {
      await this.#more()
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

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #take(chunk: Uint8Array | undefined, isLast: boolean): void {
    if (this.#dropped !== null) this.#dropped(chunk?.byteLength ?? 0)
    else if (chunk !== undefined) {
      this.#ahead.push(chunk)
      this.#bytesAhead += chunk.byteLength
    }
    if (chunk !== undefined) {
      this.#flowed?.(chunk.byteLength)
      // Who reads a long body frees each chunk.
      if (this.#flowed === null || this.#dropped !== null) countReceived(chunk.byteLength)
    }
    this.#isOver ||= isLast
    // Whoever waits takes it at once, and the connection need not be stopped and started again.
    const isTaken = this.#awake()
    if (!isTaken && this.#bytesAhead > this.#mostAhead && !isLast && !this.#isPaused) {
      this.#isPaused = true
      this.#request.pauseBody()
    }
  }

  /** Whether somebody waited. */
  #awake(): boolean {
    const wake = this.#wake
    this.#wake = null
    wake?.()
    return wake !== null
  }

  #drop(came: (bytes: number) => void): void {
    this.#dropped = came
    this.#ahead.length = 0
    this.#bytesAhead = 0
    if (!this.#isOver && !this.#isGone) this.#request.resume()
    this.#awake()
  }
}

import type { NodeRequest } from './node-dispatch.ts'
import type { PipelinedRequest } from './pipeline-queue.ts'

/** Bytes received ahead of reads of a short body. A long one pauses at once. */
const AHEAD = 256 * 1024

const COLLECT_AFTER = 64 * 1024 * 1024
let received = 0

/** The collector does not see the memory of chunks: of 2,000 refused lists of 0.9 MB it left 1.2 GB. */
function countReceived(bytes: number): void {
  received += bytes
  if (received < COLLECT_AFTER) return
  received = 0
  Bun.gc(false)
}

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
  #wake: (() => void) | null = null

  /** `invite`: sends 100 Continue before the first read. `flowed`: byte counts of a long body; null for a short one. */
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

  /** Fails with AbortError when the sender leaves early. */
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

  abort(): void {
    this.#isGone = true
    this.#awake()
  }

  /** Drops up to `most` further bytes. Resolves at the end, or when the connection is gone. */
  async rest(most: number): Promise<void> {
    let left = most
    this.#drop((bytes) => {
      left -= bytes
    })
    while (!this.#isOver && !this.#isGone && left > 0) {
      await this.#more()
    }
  }

  /** Drops the unread rest, so that the next request can come; calls `tooMuch` once above `most` bytes. */
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
      // Readers of long bodies free each chunk.
      if (this.#flowed === null || this.#dropped !== null) countReceived(chunk.byteLength)
    }
    this.#isOver ||= isLast
    // A waiting reader takes it at once, without a pause of the connection.
    const isTaken = this.#awake()
    if (!isTaken && this.#bytesAhead > this.#mostAhead && !isLast && !this.#isPaused) {
      this.#isPaused = true
      this.#request.pauseBody()
    }
  }

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

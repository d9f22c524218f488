import type { NodeRequest } from './node-dispatch.ts'

/** Pipelined requests waiting on a connection. */
export const MOST_PIPELINED = 16
const MAX_BUFFERED = 1024 * 1024

export interface OpenConnection {
  readonly pipeline: PipelineQueue
  readonly address: string
  /** Current or last answer; notified when the connection closes. */
  answer: { closed(): void } | null
}

export interface PipelinedRequest {
  readonly request: NodeRequest
  readonly connection: OpenConnection
  readonly early: Uint8Array[]
  /** More arrived than is buffered. */
  isBodyTooLarge: boolean
  isLast: boolean
}

/** Answers in order. Beyond the limit of waiting requests the connection takes no more and closes at the end. */
export class PipelineQueue {
  #current: PipelinedRequest | null = null
  #isClosing = false
  #isPaused = false
  #buffered = 0
  #last: (() => void) | null = null
  readonly #waiting: { readonly pipelined: PipelinedRequest; begin(): void }[] = []

  /** `run` sends the answer, at once or after earlier ones; resolves when sent, never throws. */
  take(
    pipelined: PipelinedRequest,
    run: (pipelined: PipelinedRequest) => Promise<void>,
  ): Promise<void> | undefined {
    if (!pipelined.request.isPipelined && this.#current === null) return this.#begin(pipelined, run)
    if (this.#waiting.length === MOST_PIPELINED || this.#isClosing) {
      this.#closeAfterThis(pipelined)
      return undefined
    }
    if (pipelined.request.hasBody) this.#bufferBody(pipelined)
    pipelined.request.pauseReads()
    this.#isPaused = true
    this.#waiting.push({ pipelined, begin: () => this.#beginLate(pipelined, run) })
    return undefined
  }

  /** Invalid input follows. Calls `work` after earlier answers, or at once if it is in the current request's body. */
  refuse(work: () => void): void {
    this.#isClosing = true
    const last = this.#waiting.at(-1)
    if (last !== undefined && isIncomplete(last.pipelined)) this.#waiting.pop()
    const isAtOnce = this.#current === null || (last === undefined && isIncomplete(this.#current))
    if (isAtOnce) work()
    else this.#last = work
  }

  #beginLate(pipelined: PipelinedRequest, run: (pipelined: PipelinedRequest) => Promise<void>): void {
    if (pipelined.isBodyTooLarge) pipelined.request.closeWhenDrained()
    else if (pipelined.request.startPipelined()) this.#begin(pipelined, run)
  }

  #begin(pipelined: PipelinedRequest, run: (pipelined: PipelinedRequest) => Promise<void>): Promise<void> {
    this.#current = pipelined
    return run(pipelined).then(() => {
      this.#current = null
      this.#next(pipelined)
    })
  }

  #next({ request, isLast }: PipelinedRequest): void {
    if (request.socket.destroyed || isLast) {
      this.#waiting.length = 0
      return
    }
    const next = this.#waiting.shift()
    if (next !== undefined) next.begin()
    else if (this.#last !== null) this.#last()
    else if (this.#isClosing) request.closeWhenDrained()
    else {
      this.#buffered = 0
      if (this.#isPaused) request.resume()
      this.#isPaused = false
    }
  }

  #bufferBody(pipelined: PipelinedRequest): void {
    pipelined.request.receiveBody({
      came: (chunk) => {
        if (chunk === undefined) return
        this.#buffered += chunk.byteLength
        pipelined.isBodyTooLarge ||= this.#buffered > MAX_BUFFERED
        if (pipelined.isBodyTooLarge) this.#closeAfterThis(pipelined)
        else pipelined.early.push(chunk)
      },
      aborted() {},
    })
  }

  #closeAfterThis({ request }: PipelinedRequest): void {
    this.#isClosing = true
    request.stopParsing()
  }
}

function isIncomplete({ request }: PipelinedRequest): boolean {
  return request.hasBody && !request.isBodyComplete
}

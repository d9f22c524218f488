import { SECOND } from '../../domain/clock.ts'
import {
  assertLength,
  type BodyChunks,
  bodyChunks,
  lengthOf,
  storedBody,
  WholeAnswer,
} from '../answers/answers.ts'
import {
  type AnswerFailure,
  type AnswerRequest,
  type Connection,
  endsWithAnswer,
  type Flow,
  type Refuse,
  type Sent,
} from './exchange.ts'
import {
  type AnswerHead,
  type BodyEnding,
  headersOf,
  NOWHERE,
  type NodeRequest,
  namedHeaders,
  type PipelinedRequest,
  urlOf,
} from './node-dispatch.ts'

/** A refused sender must read its answer and stop: bytes still received, and milliseconds. */
const LINGER_BYTES = 64 * 1024 * 1024
const LINGER = 5 * SECOND

/** Bytes of a body sent together with its headers: what the connection does not take at once is copied. */
const LONGEST_AT_ONCE = 64 * 1024

const doNothing = () => {}

export interface Failing {
  readonly failed: AnswerFailure
  readonly brokeOff: (error: unknown) => void
  readonly refuse: Refuse
}

/** Without the objects of `node:http`, whose creation takes longer than most answers. */
export class DirectAnswer implements Connection {
  readonly isStreaming: boolean
  readonly #pipelined: PipelinedRequest
  readonly #request: NodeRequest
  readonly #flow: Flow | null
  readonly #body: DirectBody | null
  #isGone = false
  #chunks: BodyChunks | null = null
  #isFull = false
  #leave = doNothing
  #hasUrl = false
  #status = 0
  #bytes = 0
  #received = 0
  #tellOver: ((sent: Sent) => void) | null = null

  /** `flow`: byte counts of a large body; null where the headers tell its length. */
  constructor(pipelined: PipelinedRequest, flow: Flow | null) {
    this.#pipelined = pipelined
    this.#flow = flow
    this.isStreaming = flow !== null
    this.#request = pipelined.request
    this.#body = pipelined.request.hasBody ? this.#bodyOf(pipelined) : null
    pipelined.connection.answer = this
  }

  closed(): void {
    this.#isGone = true
    this.#body?.abort()
    this.#chunks?.cancel()
    this.#leave()
  }

  #bodyOf(pipelined: PipelinedRequest): DirectBody {
    const flow = this.#flow
    const invite = () => {
      if (pipelined.request.expectation === 'continue') pipelined.request.writeContinue()
    }
    const flowed = (bytes: number) => {
      this.#received += bytes
      flow?.received(bytes)
    }
    return new DirectBody(pipelined, { invite, flowed: flow === null ? null : flowed })
  }

  get address(): string {
    return this.#pipelined.connection.address
  }

  get hasUrl(): boolean {
    return this.#hasUrl
  }

  received(): number {
    return this.#received
  }

  whenOver(tell: (sent: Sent) => void): void {
    this.#tellOver = tell
  }

  async run(answer: AnswerRequest, failing: Failing): Promise<void> {
    const { method, url, isHttp10 } = this.#request
    const headers = headersOf(this.#request.takeHeaders())
    const whole = urlOf(headers, url, isHttp10)
    this.#hasUrl = whole !== null
    const body = method === 'GET' || method === 'HEAD' ? null : (this.#body?.stream() ?? null)
    const request = new Request(whole ?? NOWHERE, { method, headers, body })
    const response = this.#isExpected() ? await answer(request, this) : failing.refuse('unknown expectation')
    this.#status = response.status
    try {
      if (response instanceof WholeAnswer) {
        // Most answers take this branch, which awaits no promise.
        const draining = this.#isGone
          ? undefined
          : this.#sendWhole(response, method === 'HEAD' ? undefined : response.body)
        if (draining !== undefined) await draining
      } else await this.#sendResponse(response, failing)
    } finally {
      if (!this.#pipelined.isLast)
        this.#body?.dropUnread(LINGER_BYTES, () => this.#request.closeWhenDrained())
      this.#flow?.sent(this.#bytes)
      this.#tellOver?.({ status: this.#status, bytes: this.#bytes })
    }
  }

  async #sendResponse(response: Response, failing: Failing): Promise<void> {
    const stored = storedBody(response)
    try {
      if (this.#isGone) await response.body?.cancel()
      else {
        await this.#send(response, stored ?? (response.body && bodyChunks(response.body)), failing)
        // A broken connection may still hold the last chunks.
        if (!this.#isGone) stored?.release()
      }
    } finally {
      stored?.cancel()
    }
  }

  #isExpected(): boolean {
    return this.#request.isHttp10 || this.#request.expectation !== 'unknown'
  }

  async #send(response: Response, chunks: BodyChunks | null, failing: Failing): Promise<void> {
    const isHead = this.#request.method === 'HEAD'
    const length = lengthOf(response)
    if (chunks === null || hasNoBody(response.status) || (isHead && length !== null)) {
      chunks?.cancel()
      return this.#sendWhole(response, undefined)
    }
    this.#chunks = chunks
    let first: Uint8Array | null
    let second: Uint8Array | null
    try {
      // A failure before the first byte can still change the status.
      first = await chunks.next()
      if (first === null && length !== null) assertLength(0, length)
      // Without a length only the next chunk shows the end.
      second = first === null || length !== null ? null : await chunks.next()
    } catch (error) {
      if (this.#isGone) return
      return this.#sendFailure(response, error, failing)
    }
    if (this.#isGone) return
    const isWhole = length === null ? second === null : (first?.byteLength ?? 0) === length
    // Content-Length wherever known. HEAD has the headers of GET.
    if (isHead) {
      if (isWhole) response.headers.set('Content-Length', String(first?.byteLength ?? 0))
      chunks.cancel()
      await this.#sendWhole(response, undefined)
    } else if (isWhole && (length === null || length <= LONGEST_AT_ONCE)) {
      await this.#sendWhole(response, first ?? undefined)
    } else await this.#sendChunks(response, [first, second], chunks)
  }

  #sendFailure({ headers }: Response, error: unknown, { failed, brokeOff, refuse }: Failing): Promise<void> {
    brokeOff(error)
    const failure = failed(error, headers)
    this.#status = failure.status
    return this.#send(failure, failure.body && bodyChunks(failure.body), { failed, brokeOff, refuse })
  }

  #closes({ headers }: AnswerHead): boolean {
    if (this.#pipelined.isLast) headers.set('Connection', 'close')
    else this.#pipelined.isLast = headers.get('connection') === 'close'
    if (this.#pipelined.isLast) endsWithAnswer(this.#request.socket)
    return this.#pipelined.isLast
  }

  #sendWhole(response: AnswerHead, body: string | Uint8Array | undefined): Promise<void> | undefined {
    const closes = this.#closes(response)
    if (closes && this.#body?.isOver === false) return this.#sendAndLinger(response, body)
    const isBodyless = this.#request.method === 'HEAD' || hasNoBody(response.status)
    const how = isBodyless ? endingOf(response, 'without a body') : null
    const { bytes, isTaken } = this.#request.answerWhole(response, body, how)
    if (this.#pipelined.isLast) this.#request.closeWhenDrained()
    this.#bytes = bytes
    return isTaken ? undefined : this.#drained()
  }

  async #sendAndLinger(response: AnswerHead, body: string | Uint8Array | undefined): Promise<void> {
    this.#request.cork(() => {
      this.#request.writeHead(response, null)
      if (body !== undefined) this.#write(Buffer.from(body))
    })
    await this.#linger()
    await this.#end()
  }

  async #sendChunks(
    response: Response,
    begun: readonly (Uint8Array | null)[],
    chunks: BodyChunks,
  ): Promise<void> {
    this.#closes(response)
    const length = lengthOf(response)
    const endsByClosing = length === null && this.#request.isHttp10
    const how = endsByClosing ? endingOf(response, 'by closing') : null
    this.#request.cork(() => {
      this.#request.writeHead(response, how)
      for (const chunk of begun) if (chunk !== null) this.#write(chunk)
    })
    for (;;) {
      // Reads ahead for fast clients; a slow one has one chunk in memory.
      const coming = this.#isFull ? null : chunks.next()
      // A client that has gone leaves it unawaited.
      coming?.catch(() => {})
      if (this.#isFull) await this.#drained()
      if (this.#isGone) return
      const chunk = await (coming ?? chunks.next())
      if (this.#isGone) return
      if (chunk === null) break
      this.#write(chunk)
    }
    // After too few bytes the client would read the next answer as the rest.
    if (length !== null) assertLength(this.#bytes, length)
    if (this.#pipelined.isLast && this.#body?.isOver === false) await this.#linger()
    await this.#end()
  }

  /** A chunk that the socket does not take at once is referenced, not copied, until drained. */
  #write(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength
    this.#isFull = !this.#request.write(chunk, () => this.#leave())
  }

  async #end(): Promise<void> {
    if (this.#isGone) return
    if (!this.#request.end()) await this.#drained()
    if (this.#pipelined.isLast) this.#request.closeWhenDrained()
  }

  #drained(): Promise<void> {
    if (this.#isGone) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        this.#isFull = false
        resolve()
      }
      this.#leave = done
      this.#request.whenWritable(done)
    })
  }

  /** Closing a connection with unread bytes resets it, and the reset may overtake the answer. */
  async #linger(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, LINGER)
    await Promise.race([this.#body?.rest(LINGER_BYTES), late.promise])
    clearTimeout(timer)
  }
}

function endingOf({ headers }: AnswerHead, ending: BodyEnding['ending']): BodyEnding {
  return { ending, named: namedHeaders(headers) }
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304
}

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

class DirectBody {
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

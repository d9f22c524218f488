import { type createServer, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Server } from 'bun'

/*
 * Everything that knows how Bun's `node:http` works beneath its own objects, which is documented nowhere and described here
 * as of Bun 1.4.5. `listener.ts` tries it as the server starts, and where it has changed serves with
 * `node:http` alone.
 */

interface Handle {
  ondata: ((chunk: Uint8Array | undefined, isLast: boolean, event: number) => void) | undefined
  onwritable: (() => void) | undefined
  /** Bits of `BODY_`. */
  readonly hasBody: number
  takeRawHeaders(): string[] | undefined
  cork(write: () => void): void
  writeContinue(): void
  writeHead(status: number, text: string, headers: RawHeaders, automatic: number, keepAlive: number): void
  writeHeadAndEnd(
    status: number,
    text: string,
    headers: RawHeaders,
    body: string | Uint8Array | undefined,
    encoding: undefined,
    strictLength: undefined,
    automatic: number,
    keepAlive: number,
  ): number
  write(chunk: Uint8Array, encoding: undefined, drained: () => void, strictLength: undefined): number
  end(chunk: undefined, encoding: undefined, drained: undefined, strictLength: undefined): number
  pause(): void
  pauseReads(): void
  resume(): void
}

interface SocketHandle {
  stopParsing(): void
  closeWhenDrained(): void
  /** For pipelined requests. False when the connection is gone. */
  startPipelinedResponse(handle: Handle, isHttp10: boolean, closes: boolean): boolean
}

/** Called by Bun for each request; implemented by `node:http`. */
type Dispatch = (...given: Given) => Promise<void> | undefined

type Given = [
  server: unknown,
  url: string,
  method: string,
  bits: number,
  handle: Handle,
  hasBody: unknown,
  socketHandle: SocketHandle,
  isSocketNew: boolean,
  socket: Socket,
  isHttp10: boolean,
  connectHead: unknown,
  isPipelined: boolean,
]
const IS_PIPELINED = 11

/** Alternating names and values take longer, but can state how the body ends. */
type RawHeaders = Headers | string[]
/** `event` of `ondata`: the connection is gone. */
const ABORTED = 1
/** Bit of `hasBody`: complete. */
const BODY_DONE = 4
/** Bit of `automatic`: adds Date. */
const WITH_DATE = 1
const ASKS_FOR_CLOSE = 1
const EXPECTS = 16
const EXPECTS_CONTINUE = 32
/** The value after these in a header list states how the body ends. */
const ENDINGS = { 'by closing': ['\0', '1'], 'without a body': ['\0', '2'] } as const

export type AnswerHead = Pick<Response, 'status' | 'headers'>

/** For headers that do not state how the body ends. */
export interface BodyEnding {
  readonly ending: keyof typeof ENDINGS
  readonly named: readonly string[]
}

/** Bun has copied the chunk: it belongs to the receiver. */
export interface BodyReceiver {
  came(chunk: Uint8Array | undefined, isLast: boolean): void
  aborted(): void
}

/** A request and its answer, beneath the objects of `node:http`. */
export class NodeRequest {
  readonly url: string
  readonly method: string
  readonly socket: Socket
  readonly isHttp10: boolean
  readonly hasBody: boolean
  /** An earlier request of the connection is unanswered. */
  readonly isPipelined: boolean
  readonly #handle: Handle
  readonly #socketHandle: SocketHandle
  readonly #bits: number
  readonly #dispatch: Dispatch
  readonly #given: Given

  /** `dispatch`: that of `node:http`, for requests handed on. */
  constructor(dispatch: Dispatch, given: Given) {
    const [, url, method, bits, handle, hasBody, socketHandle, , socket, isHttp10, , isPipelined] = given
    this.url = url
    this.method = method
    this.socket = socket
    this.isHttp10 = isHttp10
    this.hasBody = Boolean(hasBody)
    this.isPipelined = isPipelined
    this.#bits = bits
    this.#handle = handle
    this.#socketHandle = socketHandle
    this.#dispatch = dispatch
    this.#given = given
  }

  get asksForClose(): boolean {
    return (this.#bits & ASKS_FOR_CLOSE) !== 0
  }

  /** Expect header (RFC 9110 §10.1.1). */
  get expectation(): 'none' | 'continue' | 'unknown' {
    if ((this.#bits & EXPECTS_CONTINUE) !== 0) return 'continue'
    return (this.#bits & EXPECTS) === 0 ? 'none' : 'unknown'
  }

  get isBodyComplete(): boolean {
    return (this.#handle.hasBody & BODY_DONE) !== 0
  }

  /** Alternating names and values. Only once. */
  takeHeaders(): string[] {
    return this.#handle.takeRawHeaders() ?? []
  }

  /** `node:http` answers, with its own objects made synchronously. Resolves at the end. */
  handOn(): Promise<void> | undefined {
    // All earlier requests are answered by then.
    this.#given[IS_PIPELINED] = false
    return this.#dispatch(...this.#given)
  }

  receiveBody(receiver: BodyReceiver): void {
    this.#handle.ondata = (chunk, isLast, event) => {
      if (event === ABORTED) receiver.aborted()
      else receiver.came(chunk, isLast)
    }
  }

  writeContinue(): void {
    this.#handle.writeContinue()
  }

  pauseBody(): void {
    this.#handle.pause()
  }

  pauseReads(): void {
    this.#handle.pauseReads()
  }

  resume(): void {
    this.#handle.resume()
  }

  /** Called once the client has taken everything written. */
  whenWritable(taken: () => void): void {
    this.#handle.onwritable = taken
  }

  cork(write: () => void): void {
    this.#handle.cork(write)
  }

  /** Returns the bytes of the body, and whether the client has taken them. */
  answerWhole(
    head: AnswerHead,
    body: string | Uint8Array | undefined,
    how: BodyEnding | null,
  ): { readonly bytes: number; readonly isTaken: boolean } {
    const { status } = head
    const text = STATUS_CODES[status] ?? ''
    const headers = rawHeaders(head, how)
    const left = this.#handle.writeHeadAndEnd(status, text, headers, body, undefined, undefined, WITH_DATE, 0)
    return left < 0 ? { bytes: -left - 1, isTaken: false } : { bytes: left, isTaken: true }
  }

  writeHead(head: AnswerHead, how: BodyEnding | null): void {
    const { status } = head
    this.#handle.writeHead(status, STATUS_CODES[status] ?? '', rawHeaders(head, how), WITH_DATE, 0)
  }

  /** False when not taken at once: then held, not copied, until `drained`. */
  write(chunk: Uint8Array, drained: () => void): boolean {
    return this.#handle.write(chunk, undefined, drained, undefined) >= 0
  }

  end(): boolean {
    return this.#handle.end(undefined, undefined, undefined, undefined) >= 0
  }

  stopParsing(): void {
    this.#socketHandle.stopParsing()
  }

  closeWhenDrained(): void {
    this.#socketHandle.closeWhenDrained()
  }

  startPipelined(): boolean {
    return this.#socketHandle.startPipelinedResponse(this.#handle, this.isHttp10, this.asksForClose)
  }
}

function rawHeaders({ headers }: AnswerHead, how: BodyEnding | null): RawHeaders {
  return how === null ? headers : [...how.named, ...ENDINGS[how.ending]]
}

export type TakeRequest = (request: NodeRequest) => Promise<void> | undefined

/** `node:http` differs from that of Bun 1.4.5. */
export class NoDispatch extends Error {
  override readonly name = 'NoDispatch'
}

/**
 * Like `Bun.serve`, with the settings of `node` for invalid requests. `node:http` passes its dispatch only in a call of
 * `Bun.serve`, so that call is intercepted and the function kept. Throws NoDispatch, and errors of `Bun.serve`.
 */
export function serveByDispatch(
  node: ReturnType<typeof createServer>,
  { hostname, port, quiet }: { readonly hostname: string; readonly port: number; readonly quiet: number },
  take: TakeRequest,
): Server<undefined> {
  return interceptServe(node, (dispatch) => {
    const taken: Dispatch = (...given) => take(new NodeRequest(dispatch, given))
    const handler: object = { onNodeHTTPRequest: taken }
    return Bun.serve({
      ...handler,
      // All paths are the handler's.
      routes: { '/*': false },
      hostname,
      port,
      idleTimeout: quiet,
      // Bodies are streamed, with our own limits.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Otherwise two servers could share the port, each with some of the requests.
      reusePort: false,
    })
  })
}

function interceptServe(
  node: ReturnType<typeof createServer>,
  serve: (dispatch: Dispatch) => Server<undefined>,
): Server<undefined> {
  const original = Object.getOwnPropertyDescriptor(Bun, 'serve')
  const restore = () => Object.defineProperty(Bun, 'serve', { ...original })
  const outcome: { server?: Server<undefined>; error?: unknown } = {}
  const intercepting = (options: object) => {
    restore()
    if (!('onNodeHTTPRequest' in options && isDispatch(options.onNodeHTTPRequest))) return null
    try {
      outcome.server = serve(options.onNodeHTTPRequest)
      return outcome.server
    } catch (error) {
      outcome.error = error
      throw error
    }
  }
  // `node:http` reports failures later; they are thrown below.
  node.once('error', () => {})
  Object.defineProperty(Bun, 'serve', { ...original, value: intercepting })
  try {
    node.listen(0)
  } finally {
    restore()
  }
  if (outcome.server !== undefined) return outcome.server
  // Whatever it did instead of calling `Bun.serve`.
  node.close()
  throw outcome.error ?? new NoDispatch('node:http of this Bun does not listen as that of 1.4.5 does')
}

function isDispatch(value: unknown): value is Dispatch {
  return typeof value === 'function'
}

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

export const NOWHERE = 'http://nowhere.invalid'

/**
 * Null for an invalid URL. Validates the Host, so that it cannot be parsed as a part of the path, or the reverse. Of an
 * absolute target (RFC 9112 §3.2.2) only the path counts; the Host header decides the host.
 */
export function urlOf(headers: Headers, target: string, isAncient: boolean): string | null {
  const path = target.startsWith('/') ? target : pathOfAddress(target)
  // Repeated Host headers are joined with a comma, which no host name contains.
  const told = headers.get('host')
  if (path === null || told?.includes(',') === true || (!isAncient && told === null)) return null
  const host = told ?? new URL(NOWHERE).host
  const address = `http://${host}${path}`
  return host !== '' && !/[\s/?#@\\]/.test(host) && URL.canParse(address) ? address : null
}

export function pathOfAddress(address: string): string | null {
  const url = URL.parse(address)
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.pathname + url.search : null
}

export function headersOf(list: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < list.length; at += 2) {
    headers.append(list[at] ?? '', list[at + 1] ?? '')
  }
  return headers
}

const SPECIAL = new Map([
  ['etag', 'ETag'],
  ['www-authenticate', 'WWW-Authenticate'],
])
const written = new Map<string, string>(SPECIAL)

/** Headers keeps names in lower case. */
function headerName(name: string): string {
  const known = written.get(name)
  if (known !== undefined) return known
  const made = name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())
  written.set(name, made)
  return made
}

export function namedHeaders(headers: Headers): string[] {
  const named: string[] = []
  headers.forEach((value, name) => {
    named.push(headerName(name), value)
  })
  return named
}

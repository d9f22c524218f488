import { type createServer, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Server } from 'bun'

/*
 * Everything that knows how Bun's `node:http` works beneath its own objects, which is documented nowhere and described here
 * as of Bun 1.4.5. `dispatch-self-test.ts` tries it as the server starts; where it has changed, `node-listener.ts` serves.
 */

/** What Bun has for a request, its answer included. */
interface Handle {
  ondata: ((chunk: Uint8Array | undefined, isLast: boolean, event: number) => void) | undefined
  onwritable: (() => void) | undefined
  /** A bit set of `BODY_`. */
  readonly hasBody: number
  /** Names and values in turn. */
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

/** The connection beneath a socket of `node:http`. */
interface SocketHandle {
  stopParsing(): void
  closeWhenDrained(): void
  /** Makes the answer to a pipelined request the current one. False when the connection is gone. */
  startPipelinedResponse(handle: Handle, isHttp10: boolean, closes: boolean): boolean
}

/** What Bun calls for each request, and `node:http` has for it. */
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

/** Names and values in turn take longer, and can say how the body ends. */
type RawHeaders = Headers | string[]
/** `event` of `ondata`: the connection is gone. */
const ABORTED = 1
/** Bit of `hasBody`: all of it has come. */
const BODY_DONE = 4
/** Bit of `automatic`: a Date header is added. */
const WITH_DATE = 1
const ASKS_FOR_CLOSE = 1
const EXPECTS = 16
const EXPECTS_CONTINUE = 32
/** What follows these in a list of headers says how the body ends. */
const ENDINGS = { 'by closing': ['\0', '1'], 'without a body': ['\0', '2'] } as const

/** What goes before the body of an answer. */
export type AnswerHead = Pick<Response, 'status' | 'headers'>

/** How the body of an answer ends, where its headers do not say that. */
export interface BodyEnding {
  readonly ending: keyof typeof ENDINGS
  /** The headers of the answer, names and values in turn. */
  readonly named: readonly string[]
}

/** What comes of a request's body. A chunk is the receiver's: Bun has copied it. */
export interface BodyReceiver {
  came(chunk: Uint8Array | undefined, isLast: boolean): void
  /** The connection is gone. */
  aborted(): void
}

/** One request and its answer, beneath the objects of `node:http`. */
export class NodeRequest {
  readonly url: string
  readonly method: string
  readonly socket: Socket
  readonly isHttp10: boolean
  readonly hasBody: boolean
  /** An earlier request of the connection is not answered yet. */
  readonly isPipelined: boolean
  readonly #handle: Handle
  readonly #socketHandle: SocketHandle
  readonly #bits: number
  readonly #dispatch: Dispatch
  readonly #given: Given

  /** `dispatch`: what `node:http` does with a request that is handed on. */
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

  /** What `Expect` says (RFC 9110, section 10.1.1). */
  get expectation(): 'none' | 'continue' | 'unknown' {
    if ((this.#bits & EXPECTS_CONTINUE) !== 0) return 'continue'
    return (this.#bits & EXPECTS) === 0 ? 'none' : 'unknown'
  }

  /** Whether all of the body has come. */
  get isBodyComplete(): boolean {
    return (this.#handle.hasBody & BODY_DONE) !== 0
  }

  /** Names and values in turn. To be asked once. */
  takeHeaders(): string[] {
    return this.#handle.takeRawHeaders() ?? []
  }

  /** Has `node:http` answer it by its own objects, which it makes before this returns. Resolves when that is over. */
  handOn(): Promise<void> | undefined {
    // It is handed on when those before it are answered.
    this.#given[IS_PIPELINED] = false
    return this.#dispatch(...this.#given)
  }

  receiveBody(receiver: BodyReceiver): void {
    this.#handle.ondata = (chunk, isLast, event) => {
      if (event === ABORTED) receiver.aborted()
      else receiver.came(chunk, isLast)
    }
  }

  /** Asks a sender that waits for it for the body. */
  writeContinue(): void {
    this.#handle.writeContinue()
  }

  pauseBody(): void {
    this.#handle.pause()
  }

  /** Keeps what comes after this request from being read. */
  pauseReads(): void {
    this.#handle.pauseReads()
  }

  resume(): void {
    this.#handle.resume()
  }

  /** Calls the function once what was written has been taken by the other end. */
  whenWritable(taken: () => void): void {
    this.#handle.onwritable = taken
  }

  /** Sends what the function writes in one piece. */
  cork(write: () => void): void {
    this.#handle.cork(write)
  }

  /** Sends the whole answer: how many bytes of the body, and whether the other end has taken them. */
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

  /** Whether the other end has taken it; what it has not taken is held, not copied, until `drained` is called. */
  write(chunk: Uint8Array, drained: () => void): boolean {
    return this.#handle.write(chunk, undefined, drained, undefined) >= 0
  }

  /** Ends the answer. Whether the other end has taken all of it. */
  end(): boolean {
    return this.#handle.end(undefined, undefined, undefined, undefined) >= 0
  }

  /** Takes no further request from the connection. */
  stopParsing(): void {
    this.#socketHandle.stopParsing()
  }

  closeWhenDrained(): void {
    this.#socketHandle.closeWhenDrained()
  }

  /** Makes the answer to a pipelined request the one that is written next. False when the connection is gone. */
  startPipelined(): boolean {
    return this.#socketHandle.startPipelinedResponse(this.#handle, this.isHttp10, this.asksForClose)
  }
}

function rawHeaders({ headers }: AnswerHead, how: BodyEnding | null): RawHeaders {
  return how === null ? headers : [...how.named, ...ENDINGS[how.ending]]
}

/** Resolves when the request is answered. */
export type TakeRequest = (request: NodeRequest) => Promise<void> | undefined

/** Bun's `node:http` does not listen as that of Bun 1.4.5 does. */
export class NoDispatch extends Error {
  override readonly name = 'NoDispatch'
}

/**
 * Listens as `Bun.serve` does, with the settings of `node` for what is no request. Bun's `node:http` listens by calling
 * `Bun.serve` with what it does with each request among the options, and there is no other way to that: the call is
 * intercepted here, and the function kept. Throws NoDispatch, and what `Bun.serve` throws.
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
      // Everything is the handler's.
      routes: { '/*': false },
      hostname,
      port,
      idleTimeout: quiet,
      // Limits on size are ours: the body is streamed, never held.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Without this two servers could share the port, and each would get some of the requests.
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
  // `node:http` tells later of what fails in there; it is thrown below, for the caller.
  node.once('error', () => {})
  Object.defineProperty(Bun, 'serve', { ...original, value: intercepting })
  try {
    node.listen(0)
  } finally {
    restore()
  }
  if (outcome.server !== undefined) return outcome.server
  // Whatever it may have done instead.
  node.close()
  throw outcome.error ?? new NoDispatch('node:http of this Bun does not listen as that of 1.4.5 does')
}

function isDispatch(value: unknown): value is Dispatch {
  return typeof value === 'function'
}

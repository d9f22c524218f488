import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server } from 'bun'
import { SECOND } from '../domain/clock.ts'
import type { Log } from '../log.ts'
import { bodyChunks } from './body-chunks.ts'
import { sendBody } from './body-sending.ts'
import { untilSenderStops } from './lingering.ts'
import { addressed, isOneHost, NOWHERE, pathOf, urlOf } from './request-address.ts'

/** The connection that a request came on. */
export interface Connection {
  /** The address at its other end, empty when there is none. */
  readonly address: string
  /** Whether Host and path make an address together; of a request without one, the URL means nothing. */
  readonly hasUrl: boolean
  /** Whether its bytes are told as they move. Of the others, the lengths in the headers tell. */
  readonly isStreaming: boolean
  /** Bytes of the body that have come so far; 0 where they are not told as they move. */
  received(): number
}

/** Answers a request, whatever it asks. Never throws. */
export type Answer = (request: Request, connection: Connection) => Promise<Response>

export interface ListenOptions {
  readonly hostname: string
  /** 0 picks a free one. */
  readonly port: number
  /** Seconds for which nothing may move on a connection, at most 255. */
  readonly quiet: number
  /** Paths, with parameters as `:name`, whose bodies stream: large ones in, ones of a known length out. */
  readonly streaming: readonly string[]
  /** Paths without parameters that a streaming pattern would match, and that do not stream. */
  readonly plain?: readonly string[]
  /** Told of the bytes of bodies that stream, as they come and go. */
  readonly flow?: Flow | null
  readonly failed?: Failed
}

/** What is answered when a body fails before its first byte, and which headers its answer would have had. */
export type Failed = (error: unknown, headers: Headers) => Response

const plainFailure: Failed = () => new Response(null, { status: 500 })

export interface Flow {
  received(bytes: number): void
  sent(bytes: number): void
}

/**
 * Listens on one port with two ways to answer. Bun's own is the fast one and sends files by the kernel's own copying,
 * but it drops Content-Length from a body that is streamed, and with it every progress bar. Its `node:http` keeps it, and
 * gets the paths that may answer so. See docs/decisions/030-two-ways-to-answer.md.
 */
export function listen(options: ListenOptions, answer: Answer, log: Log): Server<undefined> {
  const { hostname, port, quiet, streaming, plain = [], flow = null, failed = plainFailure } = options
  // What arrives is timed by those who read it, and connections are kept as long as Bun's own.
  const node = createServer({ requestTimeout: 0, keepAliveTimeout: quiet * SECOND })
  const takeRequest = (incoming: IncomingMessage, outgoing: ServerResponse, invite: () => void) => {
    answerStreaming(incoming, outgoing, answer, { flow, invite, failed }).catch((error: unknown) => {
      log.error({ err: error }, 'an answer broke off')
      if (!outgoing.writableEnded) outgoing.destroy()
    })
  }
  node.on('request', (incoming, outgoing) => takeRequest(incoming, outgoing, () => {}))
  // The sender is asked for its body when somebody reads it, so that a refusal comes before that.
  node.on('checkContinue', (incoming, outgoing) =>
    takeRequest(incoming, outgoing, () => {
      if (!outgoing.headersSent) outgoing.writeContinue()
    }),
  )
  const answerPlain = (request: Request, server: Server<undefined>) => {
    const whole = addressed(request)
    return answer(whole, new BunConnection(request, whole, server))
  }
  return servingBeside(node, (handler) =>
    Bun.serve({
      ...handler,
      hostname,
      port,
      idleTimeout: quiet,
      // Limits on size are ours: the body is streamed, never held.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Without this two servers could share the port, and each would get some of the requests.
      reusePort: false,
      routes: {
        '/*': answerPlain,
        ...Object.fromEntries(plain.map((path) => [path, answerPlain])),
        // Handed on to the other one.
        ...Object.fromEntries(streaming.map((path) => [path, false as const])),
      },
    }),
  )
}

class BunConnection implements Connection {
  readonly isStreaming = false
  readonly #request: Request
  readonly #whole: Request
  readonly #server: Server<undefined>

  /** `whole`: the request with a whole address, where it can have one. */
  constructor(request: Request, whole: Request, server: Server<undefined>) {
    this.#request = request
    this.#whole = whole
    this.#server = server
  }

  get address(): string {
    return this.#server.requestIP(this.#request)?.address ?? ''
  }

  get hasUrl(): boolean {
    const { headers, url } = this.#whole
    return isOneHost(headers) && pathOf(url) !== null
  }

  received(): number {
    return 0
  }
}

/**
 * Bun's `node:http` listens by calling `Bun.serve` with its handler among the options, and there is no other way to that
 * handler: the call is met here, and the handler taken along.
 */
function servingBeside(
  node: ReturnType<typeof createServer>,
  serve: (handler: object) => Server<undefined>,
): Server<undefined> {
  const original = Object.getOwnPropertyDescriptor(Bun, 'serve')
  let outcome: Outcome = null
  const meeting = (options: object) => {
    Object.defineProperty(Bun, 'serve', { ...original })
    if (!('onNodeHTTPRequest' in options)) return null
    try {
      const server = serve({ onNodeHTTPRequest: options.onNodeHTTPRequest })
      outcome = { server }
      return server
    } catch (error) {
      outcome = { error }
      throw error
    }
  }
  // What goes wrong in there is thrown below, for whoever called.
  node.once('error', () => {})
  Object.defineProperty(Bun, 'serve', { ...original, value: meeting })
  try {
    node.listen(0)
  } finally {
    Object.defineProperty(Bun, 'serve', { ...original })
  }
  return settled(outcome)
}

type Outcome = { readonly server: Server<undefined> } | { readonly error: unknown } | null

function settled(outcome: Outcome): Server<undefined> {
  if (outcome === null) throw new Error('node:http of this Bun does not listen as that of 1.4.5 does')
  if ('error' in outcome) throw outcome.error
  return outcome.server
}

/** What is done beside reading a body and sending an answer. */
interface Answering {
  readonly flow: Flow | null
  readonly invite: () => void
  readonly failed: Failed
}

async function answerStreaming(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: Answer,
  { flow, invite, failed }: Answering,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const headers = headersOf(incoming)
  const url = urlOf(headers, incoming.url ?? '')
  let received = 0
  const came = (bytes: number) => {
    received += bytes
    flow?.received(bytes)
  }
  const request = asRequest(incoming, headers, url ?? NOWHERE, gone.signal, { came, invite })
  const response = await answer(request, {
    address: incoming.socket.remoteAddress ?? '',
    hasUrl: url !== null,
    isStreaming: true,
    received: () => received,
  })
  if (response.body === null || request.method === 'HEAD') {
    outgoing.writeHead(response.status, [...response.headers].flat())
    await response.body?.cancel()
    outgoing.end()
    return
  }
  const chunks = bodyChunks(response.body)
  gone.signal.addEventListener('abort', chunks.cancel, { once: true })
  let first: Uint8Array | null
  try {
    // Until the first byte there is a status that tells of a failure. A connection that is broken off before it would end
    // as an empty answer with the status of the whole one.
    first = await chunks.next()
  } catch (error) {
    if (!gone.signal.aborted) await sendFailure(failed(error, response.headers), outgoing)
    throw error
  }
  outgoing.writeHead(response.status, [...response.headers].flat())
  await sendBody(first, chunks, outgoing, gone.signal, (bytes) => flow?.sent(bytes))
  // The end of the answer is the end of the connection then.
  if (response.headers.get('connection') === 'close') await untilSenderStops(incoming)
  outgoing.end()
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  }
  return headers
}

/** What is done as a body is read. */
interface Passing {
  readonly came: (bytes: number) => void
  /** Asks the sender for the body, when it waits for that. Called before the first read. */
  readonly invite: () => void
}

function asRequest(
  incoming: IncomingMessage,
  headers: Headers,
  url: string,
  signal: AbortSignal,
  passing: Passing,
): Request {
  const { method = 'GET' } = incoming
  const body = method === 'GET' || method === 'HEAD' ? null : bodyOf(incoming, passing)
  return new Request(url, { method, headers, body, signal })
}

/** Takes from the connection only what is asked for. Fails with AbortError when the other end leaves before the end. */
function bodyOf(incoming: IncomingMessage, { came, invite }: Passing): ReadableStream<Uint8Array> {
  let isOver = false
  let isRead = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (work: () => void) => {
          if (!isOver) work()
          isOver = true
        }
        incoming.on('data', (chunk: Buffer) => {
          came(chunk.byteLength)
          if (isOver) return
          incoming.pause()
          controller.enqueue(chunk)
        })
        incoming.pause()
        incoming.once('end', () => end(() => controller.close()))
        const left = () => end(() => controller.error(new DOMException('gone', 'AbortError')))
        // What goes wrong with what is sent is the sender's affair, and the connection's end too.
        incoming.once('error', left)
        incoming.once('close', left)
      },
      pull() {
        if (!isRead) invite()
        isRead = true
        incoming.resume()
      },
      cancel() {
        isOver = true
        incoming.resume()
      },
    },
    { highWaterMark: 0 },
  )
}

async function sendFailure(failure: Response, outgoing: ServerResponse): Promise<void> {
  const body = await failure.bytes()
  outgoing.writeHead(failure.status, [...failure.headers].flat())
  outgoing.end(body)
}

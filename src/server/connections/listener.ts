import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { endsWithin } from '../../domain/abort.ts'
import { SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Log } from '../../log.ts'
import { DirectAnswer, type Failing } from './direct-answers.ts'
import {
  type AnswerFailure,
  type AnswerRequest,
  answerUnreadable,
  type Flow,
  type PathKind,
  type Refuse,
} from './exchange.ts'
import {
  MOST_PIPELINED,
  type OpenConnection,
  type PipelinedRequest,
  PipelineQueue,
  pathOfAddress,
  serveByDispatch,
  type TakeRequest,
} from './node-dispatch.ts'
import { answerStreaming, onRequests } from './streamed-answers.ts'

const DEFAULTS = {
  flow: null,
  failed: () => new Response(null, { status: 500 }),
  refuse: () => new Response(null, { status: 400 }),
  headWithin: 30,
  ceiling: { most: Number.POSITIVE_INFINITY, bucketOf: () => null, refused() {} },
} as const satisfies Partial<Listening>

/**
 * `Bun.serve` drops Content-Length from streams and loses answers to pipelined requests, so requests are taken beneath
 * `node:http` (docs/decisions/http.md), or by `node:http` where Bun lacks that. Throws the system's error when it
 * cannot listen.
 */
export async function listen(options: ListenOptions, answer: AnswerRequest, log: Log): Promise<HttpListener> {
  const listening: Listening = { ...DEFAULTS, ...options }
  const brokeOff = (error: unknown) => {
    if (error instanceof Refusal) log.info({ code: error.code }, 'an answer broke off')
    else log.error({ err: error }, 'an answer broke off')
  }
  await assertResolves(options.hostname)
  if ((options.way ?? (await workingWay(log))) === 'dispatch') {
    return listenByDispatch(listening, answer, brokeOff)
  }
  return listenByNode(listening, answer, brokeOff)
}

/** Throws ENOTFOUND. For an unknown name Bun reports any earlier system error, or none. */
async function assertResolves(hostname: string): Promise<void> {
  if (isIP(hostname) !== 0) return
  try {
    await lookup(hostname)
  } catch (cause) {
    throw Object.assign(new Error(`${hostname} does not resolve`, { cause }), {
      code: 'ENOTFOUND',
      syscall: 'listen',
    })
  }
}

async function workingWay(log: Log): Promise<ListenWay> {
  const fault = await dispatchFault()
  if (fault === null) return 'dispatch'
  log.warn(
    { err: fault },
    'requests are answered by node:http, which is slower: the faster way failed its test',
  )
  return 'node:http'
}

/** For Bun versions with an unknown dispatch. Answers take about three times the processor time. */
async function listenByNode(
  listening: Listening,
  answer: AnswerRequest,
  brokeOff: (error: unknown) => void,
): Promise<HttpListener> {
  const { flow, failed, refuse, quiet, kindOf } = listening
  const node = limitedServer(listening)
  node.setTimeout(quiet * SECOND)
  const lines = new Lines()
  onRequests(node, { refuse, brokeOff }, async (incoming, outgoing, invite) => {
    if (!(await lines.turnOf(incoming, outgoing))) return
    const streams = kindOf(pathOf(incoming.url ?? '')) !== 'plain'
    const given = { flow: streams ? flow : null, invite, failed, isStreaming: streams }
    await answerStreaming(incoming, outgoing, answer, given)
  })
  answerUnreadable(node, refuse, (socket, work) => lines.whenAnswered(socket, work))
  await listens(node, listening)
  return {
    ...addressOf(node),
    get pendingRequests() {
      return lines.count
    },
    stop: (now) =>
      new Promise((resolve) => {
        node.close(() => resolve())
        if (now) node.closeAllConnections()
        else node.closeIdleConnections()
      }),
  }
}

/** Answers each connection's requests one at a time, like `PipelineQueue`. */
class Lines {
  count = 0
  readonly #bySocket = new WeakMap<object, Set<ServerResponse>>()
  readonly #closing = new WeakSet<object>()

  /** Resolves after the earlier answers; false for a request that gets none. */
  async turnOf(incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean> {
    const { socket } = incoming
    const line = this.#bySocket.get(socket) ?? new Set()
    this.#bySocket.set(socket, line)
    const before = [...line].at(-1)
    if (line.size > MOST_PIPELINED) {
      // The connection ends after the last waiting answer; clients repeat the others.
      if (!this.#closing.has(socket)) before?.once('close', () => socket.destroy())
      this.#closing.add(socket)
      return false
    }
    line.add(outgoing)
    this.count++
    outgoing.once('close', () => {
      line.delete(outgoing)
      this.count--
    })
    if (before !== undefined) await new Promise((resolve) => before.once('close', resolve))
    return socket.writable
  }

  whenAnswered(socket: object, work: () => void): void {
    const last = [...(this.#bySocket.get(socket) ?? [])].filter(({ req }) => req.complete).at(-1)
    if (last === undefined) work()
    else last.once('close', () => this.whenAnswered(socket, work))
  }
}

function listens(node: ReturnType<typeof createServer>, { hostname, port }: Listening): Promise<void> {
  return new Promise((resolve, reject) => {
    node.once('error', reject)
    node.listen({ host: hostname, port, exclusive: true }, () => {
      node.off('error', reject)
      resolve()
    })
  })
}

function addressOf(node: ReturnType<typeof createServer>): { hostname: string; port: number } {
  const address = node.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  return { hostname: address.address, port: address.port }
}

export interface ListenOptions {
  readonly hostname: string
  readonly port: number
  /** Idle timeout in seconds, at most 255. */
  readonly quiet: number
  readonly kindOf: (path: string) => PathKind
  readonly flow?: Flow | null
  readonly failed?: AnswerFailure
  readonly refuse?: Refuse
  /** Seconds for the head of a request. */
  readonly headWithin?: number
  /** Per address; further connections are closed. */
  readonly ceiling?: Ceiling
  readonly way?: ListenWay
}

/** The internal dispatch beneath Bun's `node:http`, or the documented `node:http`. */
export type ListenWay = 'dispatch' | 'node:http'

export interface Ceiling {
  readonly most: number
  readonly bucketOf: (address: string) => string | null
  readonly refused: () => void
}

type Listening = Required<Omit<ListenOptions, 'way'>>

export interface HttpListener {
  readonly hostname: string
  readonly port: number
  readonly pendingRequests: number
  /** Resolves when the last connection has ended; `now` closes all. */
  stop(now: boolean): Promise<void>
}

function limitedServer({ headWithin, quiet, ceiling }: Listening): ReturnType<typeof createServer> {
  // Readers time bodies, idle connections last as long as Bun's, and our own code refuses a missing Host.
  const node = createServer({
    requestTimeout: 0,
    headersTimeout: headWithin * SECOND,
    connectionsCheckingInterval: Math.ceil((headWithin * SECOND) / 6),
    keepAliveTimeout: quiet * SECOND,
    requireHostHeader: false,
  })
  limitConnections(node, ceiling)
  return node
}

function limitConnections(node: ReturnType<typeof createServer>, ceiling: Ceiling): void {
  const { most, bucketOf, refused } = ceiling
  const open = new Map<string, number>()
  node.on('connection', (socket) => {
    const bucket = bucketOf(socket.remoteAddress ?? '')
    if (bucket === null) return
    const others = open.get(bucket) ?? 0
    if (others >= most) {
      socket.destroy()
      refused()
      return
    }
    open.set(bucket, others + 1)
    socket.once('close', () => {
      const left = (open.get(bucket) ?? 1) - 1
      if (left === 0) open.delete(bucket)
      else open.set(bucket, left)
    })
  })
}

/** Without the query; empty where the target is no address. */
function pathOf(target: string): string {
  const whole = target.startsWith('/') ? target : (pathOfAddress(target) ?? '')
  const query = whole.indexOf('?')
  return query < 0 ? whole : whole.slice(0, query)
}

/** Beneath Bun's `node:http`, without its objects unless the answer streams. Throws NoDispatch on an unknown Bun. */
function listenByDispatch(
  listening: Listening,
  answer: AnswerRequest,
  brokeOff: (error: unknown) => void,
): HttpListener {
  const { flow, failed, refuse, kindOf } = listening
  const node = limitedServer(listening)
  const handOn = handingOn(node, answer, { flow, failed, brokeOff, refuse })
  const connections: Connections = new WeakMap()
  answerUnreadable(node, refuse, (socket, work) => {
    const connection = connections.get(socket)
    if (connection === undefined) work()
    else connection.pipeline.refuse(work)
  })
  const failing = { failed, brokeOff, refuse }
  const run = (pipelined: PipelinedRequest) => {
    const { url, socket } = pipelined.request
    const kind = kindOf(pathOf(url))
    if (kind === 'streaming') return handOn(pipelined)
    const direct = new DirectAnswer(pipelined, kind === 'receiving' ? flow : null)
    return direct.run(answer, failing).catch((error: unknown) => {
      brokeOff(error)
      socket.destroy()
    })
  }
  const server = serveByDispatch(node, listening, taking(connections, run))
  return {
    hostname: server.hostname ?? 'localhost',
    port: server.port ?? 0,
    get pendingRequests() {
      return server.pendingRequests
    },
    stop: (now) => server.stop(now),
  }
}

type Connections = WeakMap<object, OpenConnection>

function taking(connections: Connections, run: (pipelined: PipelinedRequest) => Promise<void>): TakeRequest {
  function open(socket: Socket): OpenConnection {
    const connection: OpenConnection = {
      pipeline: new PipelineQueue(),
      address: socket.remoteAddress ?? '',
      answer: null,
    }
    connections.set(socket, connection)
    socket.once('close', () => connection.answer?.closed())
    return connection
  }

  return (request) => {
    const connection = connections.get(request.socket) ?? open(request.socket)
    const isLast = request.isHttp10 || request.asksForClose
    return connection.pipeline.take({ request, connection, early: [], isBodyTooLarge: false, isLast }, run)
  }
}

interface Troubles extends Failing {
  readonly flow: Flow | null
}

/** Answers requests from `node:http`. The returned function hands one over and resolves when it is answered. */
function handingOn(
  node: ReturnType<typeof createServer>,
  answer: AnswerRequest,
  { flow, failed, brokeOff, refuse }: Troubles,
): (pipelined: PipelinedRequest) => Promise<void> {
  let early: readonly Uint8Array[] = []
  onRequests(node, { refuse, brokeOff }, (incoming, outgoing, invite) => {
    for (const chunk of early) incoming.push(chunk)
    return answerStreaming(incoming, outgoing, answer, { flow, invite, failed, isStreaming: true })
  })
  return async (pipelined) => {
    early = pipelined.early
    const over = pipelined.request.handOn()
    early = []
    await over
  }
}

/** Milliseconds for the test of the dispatch; generous for busy machines. */
const LONGEST_TEST = 5 * SECOND

let result: Promise<Error | null> | null = null

/** Null if this Bun's dispatch behaves as required. Tested once per process, on its own server. */
function dispatchFault(): Promise<Error | null> {
  result ??= tested().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
  return result
}

async function tested(): Promise<void> {
  const failures: unknown[] = []
  const left = Promise.withResolvers<void>()
  const listening = {
    hostname: '127.0.0.1',
    port: 0,
    quiet: 10,
    kindOf: (path: string) => KINDS[path] ?? 'plain',
    flow: null,
    failed: () => new Response(null, { status: 500 }),
    refuse: () => new Response(null, { status: 400 }),
    headWithin: 10,
    ceiling: { most: 10, bucketOf: () => null, refused() {} },
  }
  const failed = (error: unknown) => failures.push(error)
  // Unexpected arguments make Bun's callbacks throw where only these handlers catch.
  process.on('uncaughtException', failed)
  process.on('unhandledRejection', failed)
  try {
    const listener = listenByDispatch(listening, echo(left.resolve), failed)
    try {
      const work = Promise.all([answersInOrder(listener.port), leaves(listener.port), left.promise])
      const isOver = await endsWithin(LONGEST_TEST, work)
      if (failures.length > 0) throw new AggregateError(failures, 'answers broke off')
      if (!isOver) throw new Error('requests are not answered')
    } finally {
      await listener.stop(true)
    }
  } finally {
    process.off('uncaughtException', failed)
    process.off('unhandledRejection', failed)
  }
}

/** Returns the body, whole or in pieces; `left` is called when a sender disconnects within its body. */
function echo(left: () => void): AnswerRequest {
  return async (request) => {
    const { pathname } = new URL(request.url)
    let body: string
    try {
      body = `${request.method} ${pathname} ${await request.text()}`
    } catch {
      left()
      return new Response()
    }
    const headers = { 'Content-Length': String(body.length) }
    return new Response(pathname === '/whole' ? body : pieces(body), { headers })
  }
}

function pieces(text: string): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < text.length) controller.enqueue(Buffer.from(text.slice(at, at + 10)))
      else controller.close()
      at += 10
    },
  })
}

const REQUESTS = [
  ['GET /whole', '', ''],
  ['POST /pieces', 'Content-Length: 5', 'hello'],
  ['PUT /streaming', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
  ['PUT /receiving', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
  ['GET /pieces', 'Connection: close', ''],
] as const
const KINDS: Readonly<Record<string, PathKind>> = { '/streaming': 'streaming', '/receiving': 'receiving' }
const EXPECTED = [
  'GET /whole ',
  'POST /pieces hello',
  'PUT /streaming hello',
  'PUT /receiving hello',
  'GET /pieces ',
]

async function answersInOrder(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = new Promise((resolve, reject) => {
    socket.once('close', resolve)
    socket.once('error', reject)
  })
  const heads = REQUESTS.map(([line, header, body]) => {
    const headers = ['Host: localhost', ...(header === '' ? [] : [header])]
    return `${line} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`
  })
  socket.write(heads.join(''))
  await closed
  const bodies = bodiesOf(Buffer.concat(chunks).toString())
  if (!Bun.deepEquals(bodies, EXPECTED))
    throw new Error(`requests were answered by ${JSON.stringify(bodies)}`)
}

function bodiesOf(text: string): string[] {
  const bodies: string[] = []
  for (let rest = text; rest !== ''; ) {
    const [head, length] =
      /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*?Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/i.exec(rest) ?? []
    if (head === undefined) return [...bodies, rest]
    const end = head.length + Number(length)
    bodies.push(rest.slice(head.length, end))
    rest = rest.slice(end)
  }
  return bodies
}

async function leaves(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.write('POST /whole HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhello', resolve)
  })
  socket.destroy()
}

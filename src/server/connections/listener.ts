import { lookup } from 'node:dns/promises'
import type { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Log } from '../../log.ts'
import { listenByDispatch } from './dispatch-listener.ts'
import { dispatchFault } from './dispatch-self-test.ts'
import type { AnswerRequest } from './exchange.ts'
import {
  type HttpListener,
  type Listening,
  type ListenOptions,
  type ListenWay,
  limitedServer,
  matching,
} from './listening.ts'
import { MOST_PIPELINED } from './pipeline-queue.ts'
import { answerStreaming, onRequests } from './streamed-answers.ts'
import { answerUnreadable } from './unreadable.ts'

const DEFAULTS = {
  receiving: [],
  plain: [],
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
  const { flow, failed, refuse, quiet, streaming, receiving, plain } = listening
  const node = limitedServer(listening)
  node.setTimeout(quiet * SECOND)
  const isStreaming = matching([...streaming, ...receiving], plain)
  const lines = new Lines()
  onRequests(node, { refuse, brokeOff }, async (incoming, outgoing, invite) => {
    if (!(await lines.turnOf(incoming, outgoing))) return
    const streams = isStreaming(incoming.url ?? '')
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

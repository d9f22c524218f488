import type { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { SECOND } from '../../domain/clock.ts'
import { limitedServer, matching } from './connection-settings.ts'
import type { AnswerRequest } from './exchange.ts'
import type { HttpListener, Listening } from './listening.ts'
import { MOST_PIPELINED } from './pipeline-queue.ts'
import { answerStreaming, onRequests } from './streamed-answers.ts'
import { answerUnreadable } from './unreadable.ts'

/** For Bun versions with an unknown dispatch. Answers take about three times the processor time. */
export async function listenByNode(
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

import type { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { DirectAnswer, type Failing } from './direct-answers.ts'
import type { AnswerRequest, Flow } from './exchange.ts'
import { type HttpListener, type Listening, limitedServer, matching } from './listening.ts'
import { serveByDispatch, type TakeRequest } from './node-dispatch.ts'
import { type OpenConnection, type PipelinedRequest, PipelineQueue } from './pipeline-queue.ts'
import { answerStreaming, onRequests } from './streamed-answers.ts'
import { answerUnreadable } from './unreadable.ts'

/** Beneath Bun's `node:http`, without its objects unless the answer streams. Throws NoDispatch on an unknown Bun. */
export function listenByDispatch(
  listening: Listening,
  answer: AnswerRequest,
  brokeOff: (error: unknown) => void,
): HttpListener {
  const { flow, failed, refuse, streaming, receiving, plain } = listening
  const node = limitedServer(listening)
  const handOn = handingOn(node, answer, { flow, failed, brokeOff, refuse })
  const connections: Connections = new WeakMap()
  answerUnreadable(node, refuse, (socket, work) => {
    const connection = connections.get(socket)
    if (connection === undefined) work()
    else connection.pipeline.refuse(work)
  })
  const isStreaming = matching(streaming, plain)
  const isReceiving = matching(receiving, plain)
  const failing = { failed, brokeOff, refuse }
  const run = (pipelined: PipelinedRequest) => {
    const { url, socket } = pipelined.request
    if (isStreaming(url)) return handOn(pipelined)
    const direct = new DirectAnswer(pipelined, isReceiving(url) ? flow : null)
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

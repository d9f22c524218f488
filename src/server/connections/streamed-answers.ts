import type { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { storedBody, WholeAnswer } from '../answers/known-body.ts'
import { assertLength, type BodyChunks, bodyChunks, lengthOf } from './body-chunks.ts'
import { sendBody } from './body-sending.ts'
import type { AnswerFailure, AnswerRequest, Flow, Sent } from './exchange.ts'
import { namedHeaders } from './header-names.ts'
import { dropUnread, untilSenderStops } from './lingering.ts'
import { headersOf, NOWHERE, urlOf } from './request-address.ts'
import { endsWithAnswer, type Refuse } from './unreadable.ts'

type TakeIncoming = (incoming: IncomingMessage, outgoing: ServerResponse, invite: () => void) => Promise<void>

/** A failed answer ends its connection. */
export function onRequests(
  node: ReturnType<typeof createServer>,
  { refuse, brokeOff }: { readonly refuse: Refuse; readonly brokeOff: (error: unknown) => void },
  take: TakeIncoming,
): void {
  const answered = (incoming: IncomingMessage, outgoing: ServerResponse, invite: () => void) => {
    take(incoming, outgoing, invite).catch((error: unknown) => {
      brokeOff(error)
      if (!outgoing.writableEnded) outgoing.destroy()
    })
  }
  node.on('request', (incoming, outgoing) => answered(incoming, outgoing, () => {}))
  // Only when the body is read, so that a refusal comes first.
  node.on('checkContinue', (incoming, outgoing) =>
    answered(incoming, outgoing, () => {
      if (!outgoing.headersSent) outgoing.writeContinue()
    }),
  )
  node.on('checkExpectation', (_incoming, outgoing) => {
    sendFailure(refuse('unknown expectation'), outgoing).catch(brokeOff)
  })
}

interface Answering {
  readonly flow: Flow | null
  readonly invite: () => void
  readonly failed: AnswerFailure
  /** Reports bytes of both bodies as they move. Otherwise reports an answer's length if known. */
  readonly isStreaming: boolean
}

export async function answerStreaming(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: AnswerRequest,
  { flow, invite, failed, isStreaming }: Answering,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const headers = headersOf(incoming.rawHeaders)
  const url = urlOf(headers, incoming.url ?? '', incoming.httpVersion === '1.0')
  let received = 0
  const came = (bytes: number) => {
    received += bytes
    flow?.received(bytes)
  }
  const request = asRequest(incoming, headers, url ?? NOWHERE, gone.signal, { came, invite })
  let tellOver = (_sent: Sent) => {}
  const answered = await answer(request, {
    address: incoming.socket.remoteAddress ?? '',
    hasUrl: url !== null,
    isStreaming,
    received: () => (isStreaming ? received : 0),
    whenOver(tell) {
      tellOver = tell
    },
  })
  const response = answered instanceof WholeAnswer ? answered.asResponse() : answered
  const sent = { status: response.status, bytes: 0 }
  try {
    await sendAnswer(response, { incoming, outgoing, gone: gone.signal, flow, failed, isStreaming, sent })
  } finally {
    dropUnread(incoming)
    tellOver(sent)
  }
}

interface Sending extends Pick<Answering, 'flow' | 'failed' | 'isStreaming'> {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly gone: AbortSignal
  readonly sent: { status: number; bytes: number }
}

async function sendAnswer(response: Response, sending: Sending): Promise<void> {
  const { incoming, outgoing, gone, flow, failed, isStreaming, sent } = sending
  const isHead = incoming.method === 'HEAD'
  const length = lengthOf(response)
  const looksAhead = !isStreaming && length === null
  const chunks = storedBody(response) ?? (response.body && bodyChunks(response.body))
  if (chunks === null || (isHead && !looksAhead)) {
    writeHead(response, outgoing)
    chunks?.cancel()
    outgoing.end()
    return
  }
  gone.addEventListener('abort', () => chunks.cancel(), { once: true })
  if (gone.aborted) chunks.cancel()
  const tell = (bytes: number) => {
    sent.bytes += bytes
    flow?.sent(bytes)
  }
  let begun: Begun
  try {
    // The status can still report a failure. Closing now would look like an empty answer with the original status.
    begun = looksAhead ? await lookAhead(chunks) : { first: await chunks.next(), rest: chunks, length: null }
    // For a client that has gone, the body was cancelled without failure.
    if (begun.first === null && length !== null && !gone.aborted) assertLength(0, length)
  } catch (error) {
    const failure = failed(error, response.headers)
    sent.status = failure.status
    if (!gone.aborted) tell(await sendFailure(failure, outgoing))
    throw error
  }
  if (begun.length !== null) response.headers.set('Content-Length', String(begun.length))
  writeHead(response, outgoing)
  if (isHead) chunks.cancel()
  else {
    await sendBody(begun.first, begun.rest, outgoing, gone, tell)
    if (!gone.aborted && length !== null) assertLength(sent.bytes, length)
  }
  // Closing ends the answer.
  if (response.headers.get('connection') === 'close') await untilSenderStops(incoming)
  outgoing.end()
}

interface Begun {
  readonly first: Uint8Array | null
  readonly rest: Pick<BodyChunks, 'next'>
  readonly length: number | null
}

/** The next chunk tells the length of a body with at most one. */
async function lookAhead(chunks: BodyChunks): Promise<Begun> {
  const first = await chunks.next()
  let second = first === null ? null : await chunks.next()
  if (second === null) return { first, rest: chunks, length: first?.byteLength ?? 0 }
  const next = async () => {
    if (second === null) return chunks.next()
    const chunk = second
    second = null
    return chunk
  }
  return { first, rest: { next }, length: null }
}

interface Passing {
  readonly came: (bytes: number) => void
  /** Sends 100 Continue before the first read. */
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

/** Reads from the connection on demand. Fails with AbortError when the sender leaves early. */
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
        // Socket errors end reading like a disconnect.
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

export async function sendFailure(failure: Response, outgoing: ServerResponse): Promise<number> {
  const body = await failure.bytes()
  writeHead(failure, outgoing)
  outgoing.end(body)
  return body.byteLength
}

function writeHead({ status, headers }: Response, outgoing: ServerResponse): void {
  if (headers.get('connection') === 'close' && outgoing.socket !== null) endsWithAnswer(outgoing.socket)
  outgoing.writeHead(status, namedHeaders(headers))
}

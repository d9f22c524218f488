import type { createServer, IncomingMessage, ServerResponse } from 'node:http'
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
  endsWithAnswer,
  type Flow,
  type Refuse,
  type Sent,
} from './exchange.ts'
import { headersOf, NOWHERE, namedHeaders, urlOf } from './node-dispatch.ts'

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

/** For draining a refused sender: bytes, and milliseconds in total. */
const MOST = 64 * 1024 * 1024
const LONGEST = 30 * SECOND
/** Milliseconds without a byte. */
const QUIET = 5 * SECOND

/** Closing with unread bytes resets the connection, and the reset may overtake the response. */
function untilSenderStops(incoming: IncomingMessage): Promise<void> {
  if (incoming.complete || incoming.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let left = MOST
    const stop = () => {
      clearTimeout(longest)
      clearTimeout(quiet)
      incoming.off('data', drop)
      resolve()
    }
    const drop = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) stop()
      else quiet.refresh()
    }
    const longest = setTimeout(stop, LONGEST)
    const quiet = setTimeout(stop, QUIET)
    // Earlier readers must not get these bytes.
    incoming.removeAllListeners('data')
    incoming.on('data', drop)
    incoming.once('end', stop)
    incoming.once('close', stop)
    incoming.resume()
  })
}

/** Destroys the connection when the body is too large. */
function dropUnread(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return
  let left = MOST
  incoming.removeAllListeners('data')
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) incoming.destroy()
  })
  incoming.resume()
}

/** At the receiver's speed. `sent` is called per chunk. */
async function sendBody(
  first: Uint8Array | null,
  chunks: Pick<BodyChunks, 'next'>,
  outgoing: ServerResponse,
  gone: AbortSignal,
  sent: (bytes: number) => void,
): Promise<void> {
  let coming = Promise.resolve(first)
  for (;;) {
    const chunk = await coming
    if (chunk === null || gone.aborted) break
    coming = chunks.next()
    // The await reports the failure, unless the receiver has gone.
    coming.catch(() => {})
    sent(chunk.byteLength)
    // Rather than copying unsent chunks.
    if (!outgoing.write(chunk)) await drained(outgoing, gone)
  }
}

function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    if (gone.aborted) return resolve()
    outgoing.once('drain', done)
    gone.addEventListener('abort', done, { once: true })
  })
}

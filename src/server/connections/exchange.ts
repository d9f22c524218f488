import { type createServer, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import type { WholeAnswer } from '../answers/answers.ts'
import { namedHeaders } from './node-dispatch.ts'

export interface Connection {
  readonly address: string
  /** Host and path form a URL; otherwise the request's URL is meaningless. */
  readonly hasUrl: boolean
  /** Bytes are counted as they move; otherwise headers state the lengths. */
  readonly isStreaming: boolean
  /** Body bytes so far; 0 unless streaming. */
  received(): number
  whenOver(tell: (sent: Sent) => void): void
}

export interface Sent {
  /** Differs from the handler's when a body failed before its first byte. */
  readonly status: number
  /** Body bytes accepted by the system, even if the client has disconnected. */
  readonly bytes: number
}

/** Never throws. */
export type AnswerRequest = (request: Request, connection: Connection) => Promise<Response | WholeAnswer>

/** For a body that failed before its first byte. `headers`: of the failed response. */
export type AnswerFailure = (error: unknown, headers: Headers) => Response

/** What may come or go there in large numbers of bytes: answers, of known length or endless; requests; neither. */
export type PathKind = 'streaming' | 'receiving' | 'plain'

export interface Flow {
  received(bytes: number): void
  sent(bytes: number): void
}

/** `OPTIONS *` (RFC 9110 §9.3.7) is a request unknown to Bun's parser. */
export type Unreadable = 'malformed' | 'large head' | 'unknown expectation' | 'OPTIONS *'

export type Refuse = (why: Unreadable) => Response

const parserError = z.object({ code: z.string(), rawPacket: z.instanceof(Uint8Array).optional() })

/** Host is optional in HTTP/1.0. */
const SERVER_OPTIONS = /^OPTIONS \* HTTP\/1\.(?:0\r\n|1\r\n(?:[^\r\n]+\r\n)*[Hh][Oo][Ss][Tt]:)/

const ended = new WeakSet<object>()

/** Later input gets no answer. */
export function endsWithAnswer(socket: object): void {
  ended.add(socket)
}

/** Answers input that Bun's parser rejects. `turn` runs the work after the connection's earlier responses. */
export function answerUnreadable(
  node: ReturnType<typeof createServer>,
  refuse: Refuse,
  turn: (socket: Duplex, work: () => void) => void,
): void {
  node.on('clientError', (error, socket) => {
    const { data } = parserError.safeParse(error)
    // A slow or silent client expects no response.
    if (data?.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      socket.destroy()
      return
    }
    const why = reasonOf(data)
    turn(socket, () => {
      if (ended.has(socket)) {
        socket.end()
        return
      }
      ended.add(socket)
      written(refuse(why)).then(
        (bytes) => (socket.writable ? socket.end(bytes) : socket.destroy()),
        () => socket.destroy(),
      )
    })
  })
}

function reasonOf(error: z.infer<typeof parserError> | undefined): Unreadable {
  if (error?.code === 'HPE_HEADER_OVERFLOW') return 'large head'
  const head = Buffer.from(error?.rawPacket ?? []).toString('latin1')
  return SERVER_OPTIONS.test(head) ? 'OPTIONS *' : 'malformed'
}

async function written(response: Response): Promise<Buffer> {
  const body = await response.bytes()
  const head = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`]
  response.headers.set('Connection', 'close')
  const named = namedHeaders(response.headers)
  for (let at = 0; at + 1 < named.length; at += 2) head.push(`${named[at]}: ${named[at + 1]}`)
  if (response.status !== 204 && !response.headers.has('content-length'))
    head.push(`Content-Length: ${body.byteLength}`)
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

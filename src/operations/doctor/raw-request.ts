import { connect as connectPlainly, type Socket } from 'node:net'
import { connect as connectByTls } from 'node:tls'
import type { Config } from '../../config.ts'
import { PROBE_HEADER, type ProbeAnswer, probeAnswer } from '../../contract/health.ts'
import type { Signing } from '../../core/hmac.ts'
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts'
import { wholeNumber } from '../../domain/ids.ts'
import type { ProxyName } from './proxy-lines.ts'

/**
 * HTTP/1.1 with control over each byte and pause, which no client library gives: a probe announces bodies
 * that it never sends, and measures when the first byte comes back.
 */

export interface RawRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'HEAD'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent in turn, each `after` milliseconds after the previous one. */
  readonly body?: readonly { readonly bytes: Uint8Array; readonly after: number }[]
  /** Milliseconds. */
  readonly within: number
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** Milliseconds from the request to the first byte of the answer's body, and to its end. */
  readonly firstAfter: number
  readonly endedAfter: number
}

export interface NoAnswer {
  readonly failure: 'closed' | 'silent' | 'unreachable'
  readonly reason: string
  readonly after: number
}

const HEAD_END = '\r\n\r\n'
const LARGEST_ANSWER = 256 * 1024
/** `100 Continue`, which precedes the answer. */
const CONTINUE = 100

export async function rawRequest(origin: URL, request: RawRequest): Promise<RawAnswer | NoAnswer> {
  const began = performance.now()
  const after = () => performance.now() - began
  const { promise, resolve } = Promise.withResolvers<RawAnswer | NoAnswer>()
  const socket = open(origin)
  const timer = setTimeout(() => {
    resolve({ failure: 'silent', reason: `no answer in ${request.within / 1000} s`, after: after() })
  }, request.within)
  let received = Buffer.alloc(0)
  let firstAfter: number | null = null

  function take(isOver: boolean): void {
    const answer = parsed(received, request, isOver)
    if (answer !== null) resolve({ ...answer, firstAfter: firstAfter ?? after(), endedAfter: after() })
    else if (isOver) resolve({ failure: 'closed', reason: 'the connection was closed', after: after() })
  }

  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const head = received.indexOf(HEAD_END)
    if (head >= 0 && received.length > head + HEAD_END.length) firstAfter ??= after()
    take(received.length > LARGEST_ANSWER)
  })
  socket.on('end', () => take(true))
  socket.on('close', () => take(true))
  socket.on('error', (error) => {
    const failure = received.length === 0 && socket.bytesWritten === 0 ? 'unreachable' : 'closed'
    resolve({ failure, reason: error.message, after: after() })
  })
  socket.once(
    origin.protocol === 'https:' ? 'secureConnect' : 'connect',
    () => void send(socket, origin, request),
  )
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

function open(origin: URL): Socket {
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  const port = portOf(origin)
  if (origin.protocol !== 'https:') return connectPlainly({ host, port })
  // An invalid certificate is a finding of its own; a probe carries no secret.
  return connectByTls({
    host,
    port,
    servername: serverName(host),
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
}

export function portOf(origin: URL): number {
  if (origin.port !== '') return Number(origin.port)
  return origin.protocol === 'https:' ? 443 : 80
}

/** Empty for IP addresses, which TLS does not allow as a server name. */
export function serverName(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host
}

async function send(
  socket: Socket,
  origin: URL,
  { method, path, headers, body = [] }: RawRequest,
): Promise<void> {
  const all = { Host: origin.host, Connection: 'close', Accept: '*/*', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  for (const { bytes, after } of body) {
    await Bun.sleep(after)
    if (socket.destroyed) return
    socket.write(bytes)
  }
}

function parsed(
  received: Buffer,
  request: RawRequest,
  isOver: boolean,
): Pick<RawAnswer, 'status' | 'headers' | 'body'> | null {
  const end = received.indexOf(HEAD_END)
  if (end < 0) return null
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const status = wholeNumber(/^HTTP\/1\.\d (\d{3})/.exec(first)?.[1]) ?? 0
  const rest = received.subarray(end + HEAD_END.length)
  if (status === CONTINUE) return parsed(rest, request, isOver)
  const headers = headersOf(lines)
  if (request.method === 'HEAD') return { status, headers, body: '' }
  const whole = wholeBody(rest, headers)
  if (whole !== null) return { status, headers, body: whole }
  return isOver ? { status, headers, body: rest.toString('utf8') } : null
}

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers()
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) headers.append(name, value)
  }
  return headers
}

function wholeBody(rest: Buffer, headers: Headers): string | null {
  const length = wholeNumber(headers.get('content-length'))
  if (length !== null) return rest.length >= length ? rest.subarray(0, length).toString('utf8') : null
  if (headers.get('transfer-encoding') !== 'chunked') return null
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at)
    if (end < 0) return null
    const size = Number.parseInt(rest.subarray(at, end).toString('latin1'), 16)
    if (Number.isNaN(size) || size === 0) return Buffer.concat(parts).toString('utf8')
    at = end + 2 + size + 2
    if (at > rest.length) return null
    parts.push(rest.subarray(end + 2, end + 2 + size))
  }
}

export interface PublicAddress {
  readonly url: URL
  readonly config: Config
  readonly token: string
  /** Seconds that a proxy must wait for an answer; 0 skips that check. */
  readonly silence: number
}

export interface ProbePath extends PublicAddress {
  readonly proxy: ProxyName | null
  readonly seen: ProbeAnswer
}

export const PROBE = '/api/v1/probe'

export const ANSWER_TIMEOUT = 15 * SECOND

export type ProbeResult = RawAnswer & { readonly seen: ProbeAnswer | null }

/** Sends a request to the server's probe, by the public address. `seen`: null where another program answered. */
export async function probe(
  { url, token }: PublicAddress,
  request: Partial<RawRequest> = {},
): Promise<ProbeResult | NoAnswer> {
  const answer = await rawRequest(url, {
    method: 'GET',
    path: PROBE,
    within: ANSWER_TIMEOUT,
    ...request,
    headers: { [PROBE_HEADER]: token, ...request.headers },
  })
  return isNoAnswer(answer) ? answer : { ...answer, seen: seenIn(answer) }
}

function seenIn({ status, body }: RawAnswer): ProbeAnswer | null {
  if (status !== 200 || !body.startsWith('{')) return null
  const parsed = probeAnswer.safeParse(JSON.parse(body))
  return parsed.success ? parsed.data : null
}

export function isNoAnswer(answer: RawAnswer | NoAnswer): answer is NoAnswer {
  return 'failure' in answer
}

export function describeAnswer(answer: RawAnswer | NoAnswer): string {
  return isNoAnswer(answer) ? answer.reason : `status ${answer.status}`
}

const LIFETIME = 15 * MINUTE

const PURPOSE = 'probe'

/** Tokens from the server's secret with which `holdfast doctor` may probe the server. */
export function createProbes(signing: Signing, clock: Clock) {
  return {
    token: (): string => signing.sign(PURPOSE, clock.now() + LIFETIME),

    admits(token: string | null): boolean {
      const ends = token === null ? null : signing.verify(PURPOSE, token)
      return typeof ends === 'number' && clock.now() < ends
    },
  }
}

import type * as z from 'zod/mini'
import { anyErrorBody } from '../contract/fields.ts'
import { unlessAborted } from '../domain/abort.ts'
import { webAddress } from '../domain/addresses.ts'
import { wholeNumber } from '../domain/ids.ts'
import { AnswerError, ClientError, ConnectionError } from './failure.ts'

export interface RemoteServer {
  /** Without a trailing slash. */
  readonly url: string
  readonly key: string | null
}

export interface ClientRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | FormData
  readonly signal?: AbortSignal
  /** Uses a new connection: the server may have closed a kept one, and a stream can be sent only once. */
  readonly isAlone?: true
}

/** Throws ConnectionError or AnswerError. Follows no redirects: the key is for this server alone. */
export async function sendRequest({ url, key }: RemoteServer, asking: ClientRequest): Promise<Response> {
  const { method, path, headers, body, signal, isAlone } = asking
  const response = await asConnectionErrors(url, () => {
    const sent = fetch(url + path, {
      method,
      headers: { ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...headers },
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
      ...(isAlone ? { keepalive: false } : {}),
    })
    return signal === undefined ? sent : unlessAborted(signal, sent)
  })
  if (response.ok) return response
  throw await clientRefusal(response, url)
}

/** Throws ClientError for an address that is neither http nor https. */
export function toldAddress(address: string | URL, base?: string): URL {
  try {
    return webAddress(address, base)
  } catch {
    throw new ClientError(`the server sends on to ${String(address)}, which is no address on the web.`)
  }
}

export async function asConnectionErrors<T>(url: string, speak: () => Promise<T>): Promise<T> {
  try {
    return await speak()
  } catch (error) {
    if (isOurs(error)) throw error
    throw broken(url, error)
  }
}

function isOurs(error: unknown): boolean {
  return error instanceof ClientError || error instanceof ConnectionError || error instanceof AnswerError
}

/** Throws AnswerError. */
export async function readJsonAnswer<T>(
  { url }: RemoteServer,
  response: Response,
  shape: z.ZodMiniType<T>,
): Promise<T> {
  const text = await asConnectionErrors(url, () => response.text())
  const { success, data } = shape.safeParse(parsed(text))
  if (success) return data
  throw new AnswerError(`${url} does not answer as a Holdfast server does`, response.status, null, null)
}

export async function clientRefusal(response: Response, url: string): Promise<AnswerError> {
  const { status } = response
  const text = await response.text().catch(() => '')
  const said = anyErrorBody.safeParse(parsed(text))
  const retryAfter = readRetryAfter(response.headers.get('retry-after'))
  if (said.success) return new AnswerError(said.data.message, status, said.data.error, retryAfter)
  const location = response.headers.get('location')
  const stranger = text === '' ? '' : ', and not as a Holdfast server does'
  const message =
    location === null
      ? `${url} answered ${status}${stranger}`
      : `${url} sends on to ${location}; use the address of the server itself`
  return new AnswerError(message, status, null, retryAfter)
}

function broken(url: string, error: unknown): ConnectionError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = code || (error instanceof Error ? error.message : String(error))
  if (/CERT|TLS|SSL/.test(code)) {
    const message = `the certificate of ${url} is not valid (${reason})`
    return new ConnectionError(message, { passes: false, isUnsent: true, cause: error })
  }
  if (/^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN)$/.test(code)) {
    const message = `nothing answers at ${url} (${reason}); see that the address is right and the server runs`
    return new ConnectionError(message, { passes: true, isUnsent: true, cause: error })
  }
  const message = `the connection to ${url} failed (${reason})`
  return new ConnectionError(message, { passes: true, isUnsent: false, cause: error })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function readRetryAfter(header: string | null): number | null {
  if (header === null) return null
  const seconds = wholeNumber(header)
  if (seconds !== null) return seconds
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - Date.now()) / 1000))
}

interface IdleTimeout {
  readonly signal: AbortSignal
  restart(): void
  stop(): void
}

/** Aborts its signal after so many milliseconds without a restart. */
export function idleTimeout(milliseconds: number): IdleTimeout {
  const controller = new AbortController()
  const abort = () => controller.abort(new Error(`nothing for ${Math.round(milliseconds / 1000)} s`))
  let timer = setTimeout(abort, milliseconds)
  let isStopped = false
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer)
      // A late restart must not keep the process alive.
      if (!isStopped) timer = setTimeout(abort, milliseconds)
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

const LOOPBACK = /^(?:localhost|[^/:]+\.localhost|127(?:\.\d+){3}|\[::1\])(?=[:/]|$)/i

/** Without a scheme https, or http on this machine. Throws ClientError. */
export function parseServer(text: string): string {
  const url = URL.parse(
    /^[a-z]+:\/\//i.test(text) ? text : `${LOOPBACK.test(text) ? 'http' : 'https'}://${text}`,
  )
  const isBare = url !== null && url.username === '' && url.password === '' && url.pathname === '/'
  if (isBare && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url.origin
  throw new ClientError(
    `"${text}" is not the address of a server; it looks like https://files.example.org, without a path.`,
  )
}

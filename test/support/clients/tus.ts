/** A tus client, request by request. Every answer is validated against the OpenAPI document. */
import { expect } from 'bun:test'
import { z } from 'zod'
import { openRaw, type RawConnection } from '../network/raw-connection.ts'
import type { Answer, Api } from './api.ts'

export const UPLOADS = '/api/v1/uploads'
export const TUS = { 'tus-resumable': '1.0.0' }
export const CHUNK = { 'content-type': 'application/offset+octet-stream' }

type Headers = Readonly<Record<string, string>>

/** Upload-Metadata with these values. */
export function metadata(values: Headers): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')
}

export interface Started {
  /** Path of the upload on the server. */
  readonly path: string
  readonly slug: string
}

const started = z.object({ slug: z.string() })

export interface Tus {
  /** Creates an upload with these headers. */
  create(headers: Headers, body?: Uint8Array<ArrayBuffer>): Promise<Answer>
  /** Creates an upload of that size, or with a deferred length. */
  start(size: number | null, about?: Headers, more?: Headers): Promise<Started>
  patch(path: string, offset: number, bytes: Uint8Array<ArrayBuffer>, more?: Headers): Promise<Answer>
  head(path: string, more?: Headers): Promise<Answer>
  /** Current offset; throws when the server reports none. */
  offset(path: string): Promise<number>
  remove(path: string): Promise<Answer>
  look(path: string): Promise<Answer>
}

/** The methods of a client that are needed here. */
type Sender = Pick<Api, 'send' | 'get'>

/** A guest of a server that is known only by its address. */
export function guestAt(url: string): Sender {
  const send: Sender['send'] = async (path, init) => {
    // A kept-alive connection may close between requests, and fetch would then send the request twice.
    const response = await fetch(url + path, { ...init, keepalive: false })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
  return { send, get: (path, headers) => send(path, { headers: headers ?? {} }) }
}

export function tus(caller: Sender): Tus {
  const create: Tus['create'] = (headers, body) =>
    caller.send(UPLOADS, {
      method: 'POST',
      headers: { ...TUS, ...(body === undefined ? {} : CHUNK), ...headers },
      ...(body === undefined ? {} : { body }),
    })
  const head: Tus['head'] = (path, more) =>
    caller.send(path, { method: 'HEAD', headers: { ...TUS, ...more } })
  return {
    create,
    head,
    async start(size, about = {}, more = {}) {
      const length: Headers =
        size === null ? { 'upload-defer-length': '1' } : { 'upload-length': String(size) }
      const answer = await create({ ...length, 'upload-metadata': metadata(about), ...more })
      expect(answer).toMatchObject({ status: 201 })
      return { path: answer.headers.get('location') ?? '', slug: started.parse(answer.body).slug }
    },
    patch: (path, offset, bytes, more) =>
      caller.send(path, {
        method: 'PATCH',
        headers: { ...TUS, ...CHUNK, 'upload-offset': String(offset), ...more },
        body: bytes,
      }),
    async offset(path) {
      const answer = await head(path)
      expect(answer.status).toBe(200)
      return z.coerce.number().int().parse(answer.headers.get('upload-offset'))
    },
    remove: (path) => caller.send(path, { method: 'DELETE', headers: TUS }),
    look: (path) => caller.get(path),
  }
}

export interface OpenPatch extends RawConnection {
  readonly path: string
}

/**
 * Starts a PATCH of so many bytes over a socket of its own; the test controls how many are sent, and when.
 */
export async function openPatch(
  url: string,
  path: string,
  { offset, length, headers = {} }: { offset: number; length: number; headers?: Headers },
): Promise<OpenPatch> {
  const connection = await openRaw(url)
  const lines = {
    Host: new URL(url).host,
    ...TUS,
    ...CHUNK,
    'Upload-Offset': offset,
    'Content-Length': length,
    ...headers,
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  await connection.send(`PATCH ${path} HTTP/1.1\r\n${head.join('')}\r\n`)
  return { ...connection, path }
}

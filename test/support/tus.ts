/** The tus protocol as a client speaks it, request by request. Every answer is held against the OpenAPI document. */
import { expect } from 'bun:test'
import { z } from 'zod'
import type { Answer, Api } from './api.ts'
import { openRaw, type RawConnection } from './raw-connection.ts'

export const UPLOADS = '/api/v1/uploads'
export const TUS = { 'tus-resumable': '1.0.0' }
export const CHUNK = { 'content-type': 'application/offset+octet-stream' }

type Headers = Readonly<Record<string, string>>

/** Upload-Metadata of these values. */
export function metadata(values: Headers): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')
}

export interface Started {
  /** The upload's path on the server. */
  readonly path: string
  readonly slug: string
}

const started = z.object({ slug: z.string() })

export interface Tus {
  /** Asks for a new upload, as these headers say. */
  create(headers: Headers, body?: Uint8Array<ArrayBuffer>): Promise<Answer>
  /** Starts an upload of so many bytes, or of a size to be told later. */
  start(size: number | null, about?: Headers, more?: Headers): Promise<Started>
  patch(path: string, offset: number, bytes: Uint8Array<ArrayBuffer>, more?: Headers): Promise<Answer>
  head(path: string, more?: Headers): Promise<Answer>
  /** Where to go on; throws when the server does not say. */
  offset(path: string): Promise<number>
  remove(path: string): Promise<Answer>
  look(path: string): Promise<Answer>
}

/** What of a caller is needed here. */
type Sender = Pick<Api, 'send' | 'get'>

/** A guest of a server of which nothing is known but its address. */
export function guestAt(url: string): Sender {
  const send: Sender['send'] = async (path, init) => {
    // A kept connection may close between two requests, and fetch would send the second one twice.
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

/** Begins a PATCH of so many bytes over a socket of its own, and leaves it to the test how many come, and when. */
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

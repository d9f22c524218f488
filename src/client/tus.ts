/** The resumable upload protocol, tus 1.0.0 (https://tus.io/protocols/resumable-upload). */
import * as z from 'zod/mini'
import { SECOND } from '../domain/clock.ts'
import { type Uploaded, uploaded } from './answers.ts'
import { AnswerError, ConnectionError, isAnswer } from './failure.ts'
import { ask, type RemoteServer, readJsonAnswer } from './http.ts'
import { quietLimit } from './quiet.ts'

const UPLOADS = '/api/v1/uploads'
const VERSION = { 'Tus-Resumable': '1.0.0' }

/** Nothing has moved for so long: the connection is taken for dead, and a new one is tried. */
const QUIET = 60 * SECOND

/** The path of an upload on its server. Who knows it can go on with it, so it is a secret. */
export type UploadPath = string

export interface RemoteUpload {
  readonly path: UploadPath
  /** Of a guest's upload; a part has none. */
  readonly receipt: string | null
}

export interface NewRemoteUpload extends RemoteUpload {
  /** The link that it has from now on; null for a part. */
  readonly url: string | null
}

export interface RemoteNewUpload {
  readonly name: string
  /** Null when it is not known yet. */
  readonly size: number | null
  /** A folder's identifier, or `root`. */
  readonly folder: string
  /** To be concatenated with others. */
  readonly isPart?: true
}

export interface RemoteConcatenation extends Pick<RemoteNewUpload, 'name' | 'folder'> {
  readonly parts: readonly UploadPath[]
  /** The same request under the same key leads to the same upload. */
  readonly idempotencyKey: string
}

export interface Chunk {
  readonly offset: number
  readonly length: number
  /** `stir` is to be called when bytes go off, so that a slow line is not taken for a dead one. */
  readonly body: (stir: () => void) => ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | Blob
  /** The size of the whole, told when it could not be told before. */
  readonly size?: number
}

export type FetchedUploadStatus =
  | { readonly status: 'uploading' | 'processing' }
  | { readonly status: 'failed'; readonly message: string }
  | { readonly status: 'completed'; readonly result: Uploaded }

/** Every function throws AnswerError or ConnectionError. */
export async function createRemoteUpload(
  server: RemoteServer,
  { name, size, folder, isPart }: RemoteNewUpload,
): Promise<NewRemoteUpload> {
  return create(server, {
    ...(size === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(size) }),
    ...(isPart ? { 'Upload-Concat': 'partial' } : {}),
    'Upload-Metadata': metadataOf(name, folder),
  })
}

/** Makes one upload of the parts. Servers without `concatenation-unfinished` refuse it before they have all bytes of them. */
export function concatenateUploads(
  server: RemoteServer,
  { name, folder, parts, idempotencyKey }: RemoteConcatenation,
): Promise<NewRemoteUpload> {
  return create(server, {
    'Upload-Concat': `final;${parts.join(' ')}`,
    'Upload-Metadata': metadataOf(name, folder),
    'Idempotency-Key': idempotencyKey,
  })
}

/** The extensions of the protocol that the server knows. */
export async function tusExtensions(server: RemoteServer): Promise<string[]> {
  const response = await ask(server, { method: 'OPTIONS', path: UPLOADS, headers: VERSION })
  return (response.headers.get('tus-extension') ?? '').split(',')
}

function metadataOf(name: string, folder: string): string {
  const metadata = [['filename', name], ...(folder === 'root' ? [] : [['folder', folder]])]
  return metadata.map(([key, value = '']) => `${key} ${base64(value)}`).join(',')
}

const started = z.object({ url: z.optional(z.string()) })

async function create(
  server: RemoteServer,
  headers: Readonly<Record<string, string>>,
): Promise<NewRemoteUpload> {
  const response = await ask(server, { method: 'POST', path: UPLOADS, headers: { ...VERSION, ...headers } })
  const location = URL.parse(response.headers.get('location') ?? '', server.url)
  if (location === null || !location.pathname.startsWith(`${UPLOADS}/`)) {
    throw unlike(server, response)
  }
  const { url = null } = await readJsonAnswer(server, response, started)
  // Only the path: the server may be known to us by another address than to itself.
  return { path: location.pathname, receipt: response.headers.get('holdfast-receipt'), url }
}

/** How much the server has safe; null when it does not know the upload any more. */
export async function uploadOffset(server: RemoteServer, path: UploadPath): Promise<number | null> {
  try {
    const response = await ask(server, { method: 'HEAD', path, headers: VERSION })
    return offsetOf(server, response)
  } catch (error) {
    if (isAnswer(error, 404) || isAnswer(error, 410)) return null
    throw error
  }
}

/** Sends bytes, and tells how much the server has safe then. */
export async function appendChunk(server: RemoteServer, path: UploadPath, chunk: Chunk): Promise<number> {
  const { offset, length, body, size } = chunk
  const quiet = quietLimit(QUIET)
  try {
    const response = await ask(server, {
      method: 'PATCH',
      path,
      headers: {
        ...VERSION,
        'Content-Type': 'application/offset+octet-stream',
        'Content-Length': String(length),
        'Upload-Offset': String(offset),
        ...(size === undefined ? {} : { 'Upload-Length': String(size) }),
      },
      body: body(quiet.stir),
      signal: quiet.signal,
      isAlone: true,
    })
    return offsetOf(server, response)
  } catch (error) {
    if (isAnswer(error, 409) || isAnswer(error, 423)) {
      // An earlier connection of ours has not been given up yet, or another client sends the same upload.
      throw new ConnectionError(error.message, { passes: true, isUnsent: false, cause: error })
    }
    throw error
  } finally {
    quiet.stop()
  }
}

/** Null when the server does not know the upload any more. */
export async function fetchUploadStatus(
  server: RemoteServer,
  path: UploadPath,
): Promise<FetchedUploadStatus | null> {
  try {
    const said = await readJsonAnswer(server, await ask(server, { method: 'GET', path }), statusBody)
    return said
  } catch (error) {
    if (isAnswer(error, 404) || isAnswer(error, 410)) return null
    throw error
  }
}

/** Gives up the upload, and what of it is on the server. */
export async function terminateUpload(server: RemoteServer, path: UploadPath): Promise<void> {
  await ask(server, { method: 'DELETE', path, headers: VERSION })
}

const statusBody = z.union([
  z.object({ status: z.enum(['uploading', 'processing']) }),
  z.pipe(
    z.object({ status: z.literal('failed'), message: z.optional(z.string()) }),
    z.transform(
      ({ status, message = 'the server could not store it' }): FetchedUploadStatus => ({ status, message }),
    ),
  ),
  z.pipe(
    z.extend(uploaded, { status: z.literal('completed') }),
    z.transform(({ status, ...result }): FetchedUploadStatus => ({ status, result })),
  ),
])

function offsetOf(server: RemoteServer, response: Response): number {
  const header = response.headers.get('upload-offset') ?? ''
  if (!/^\d{1,16}$/.test(header)) throw unlike(server, response)
  return Number(header)
}

function unlike({ url }: RemoteServer, response: Response): AnswerError {
  return new AnswerError(`${url} does not answer as a Holdfast server does`, response.status, null, null)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

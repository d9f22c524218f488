/** tus 1.0.0 (https://tus.io/protocols/resumable-upload). */
import * as z from 'zod/mini'
import { SECOND } from '../domain/clock.ts'
import { wholeNumber } from '../domain/ids.ts'
import { type Uploaded, uploaded } from './answers.ts'
import { AnswerError, ConnectionError, isAnswer } from './failure.ts'
import { idleTimeout, type RemoteServer, readJsonAnswer, sendRequest } from './http.ts'
import { uploadMetadata } from './policy/upload-policy.ts'
import { placeHeaders, placeMetadata, type UploadPlace } from './upload-place.ts'

const UPLOADS = '/api/v1/uploads'
const VERSION = { 'Tus-Resumable': '1.0.0' }

/** Silence after which the connection counts as dead. */
const QUIET = 60 * SECOND

/** A secret: it permits continuing the upload. */
export type UploadPath = string

export interface RemoteUpload {
  readonly path: UploadPath
  readonly receipt: string | null
}

export interface NewRemoteUpload extends RemoteUpload {
  /** The file's link, valid at once; null for a partial upload. */
  readonly url: string | null
}

export interface RemoteNewUpload {
  readonly name: string
  /** Null while unknown. */
  readonly size: number | null
  readonly place: UploadPlace
  /** To be concatenated with others. */
  readonly isPartial?: true
}

export interface RemoteFinalUpload extends Pick<RemoteNewUpload, 'name' | 'place'> {
  /** Partial uploads, in order; their bytes may come later. */
  readonly of: readonly UploadPath[]
  /** A repeated request with this key returns the first upload. */
  readonly idempotencyKey: string
}

export interface Chunk {
  readonly offset: number
  readonly length: number
  /** Call `stir` when bytes are sent, so that a slow connection does not count as dead. */
  readonly body: (stir: () => void) => ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | Blob
  readonly size?: number
  /** May use a kept connection: one just used is hardly closed. */
  readonly mayShare?: true
}

export type FetchedUploadStatus =
  | { readonly status: 'uploading' | 'processing' }
  | { readonly status: 'failed'; readonly message: string }
  | { readonly status: 'completed'; readonly result: Uploaded }

/** Every function throws AnswerError or ConnectionError. */
export function createRemoteUpload(
  server: RemoteServer,
  { size, isPartial, ...named }: RemoteNewUpload,
): Promise<NewRemoteUpload> {
  return create(server, named, {
    ...(size === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(size) }),
    ...(isPartial ? { 'Upload-Concat': 'partial' } : {}),
  })
}

export function createFinalUpload(
  server: RemoteServer,
  { of, idempotencyKey, ...named }: RemoteFinalUpload,
): Promise<NewRemoteUpload> {
  return create(server, named, {
    'Upload-Concat': `final;${of.join(' ')}`,
    'Idempotency-Key': idempotencyKey,
  })
}

async function create(
  server: RemoteServer,
  { name, place }: Pick<RemoteNewUpload, 'name' | 'place'>,
  more: Readonly<Record<string, string>>,
): Promise<NewRemoteUpload> {
  const response = await sendRequest(server, {
    method: 'POST',
    path: UPLOADS,
    headers: {
      ...VERSION,
      ...more,
      ...(place.kind === 'transfer' ? placeHeaders(place) : {}),
      'Upload-Metadata': uploadMetadata({ filename: name, ...placeMetadata(place, name) }),
    },
  })
  const { url = null } = await readJsonAnswer(server, response, started)
  const { headers } = response
  return {
    path: pathIn(server, response, headers.get('location')),
    receipt: headers.get('holdfast-receipt'),
    url,
  }
}

/** Costs the server nothing. */
export async function ping(server: RemoteServer): Promise<void> {
  await sendRequest(server, { method: 'OPTIONS', path: UPLOADS, headers: VERSION })
}

const started = z.object({ url: z.optional(z.string()) })

/** Without the origin: the server may know itself by another address. */
function pathIn(server: RemoteServer, response: Response, address: string | null): UploadPath {
  const url = URL.parse(address ?? '', server.url)
  if (url?.pathname.startsWith(`${UPLOADS}/`)) return url.pathname
  throw unlike(server, response)
}

/** Bytes that are durable; null when the upload is gone. */
export async function uploadOffset(server: RemoteServer, path: UploadPath): Promise<number | null> {
  return (await askForOffset(server, path, VERSION))?.offset ?? null
}

export interface RemoteBytes {
  readonly length: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** Most bytes that a server compares. */
const COMPARED = { 'Holdfast-Before': String(64 * 1024) }

/**
 * The same, and, where `compares`, what lies before: null where the server cannot tell. A file
 * of the same name, size and date may have other bytes.
 */
export function uploadOffsetAndBefore(
  server: RemoteServer,
  path: UploadPath,
  compares: boolean,
): Promise<UploadAtRest | null> {
  return askForOffset(server, path, { ...VERSION, ...(compares ? COMPARED : {}) })
}

interface UploadAtRest {
  readonly offset: number
  readonly before: RemoteBytes | null
}

async function askForOffset(
  server: RemoteServer,
  path: UploadPath,
  headers: Readonly<Record<string, string>>,
): Promise<UploadAtRest | null> {
  try {
    const response = await sendRequest(server, { method: 'HEAD', path, headers })
    const said = response.headers.get('holdfast-before') ?? ''
    const [, length, sha256] = /^(\d{1,5}) ([0-9a-f]{64})$/.exec(said) ?? []
    const before = length === undefined || sha256 === undefined ? null : { length: Number(length), sha256 }
    return { offset: offsetOf(server, response), before }
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status >= 500) throw error
    // An answer to HEAD has neither code nor text, and may come from a proxy of a restarting server.
    if ((await fetchUploadStatus(server, path)) === null) return null
    throw error
  }
}

/** Returns the durable offset. */
export async function appendChunk(server: RemoteServer, path: UploadPath, chunk: Chunk): Promise<number> {
  const { offset, length, body, size, mayShare } = chunk
  const idle = idleTimeout(QUIET)
  try {
    const response = await sendRequest(server, {
      method: 'PATCH',
      path,
      headers: {
        ...VERSION,
        'Content-Type': 'application/offset+octet-stream',
        'Content-Length': String(length),
        'Upload-Offset': String(offset),
        ...(size === undefined ? {} : { 'Upload-Length': String(size) }),
      },
      body: body(idle.restart),
      signal: idle.signal,
      ...(mayShare ? {} : { isAlone: true }),
    })
    return offsetOf(server, response)
  } catch (error) {
    if (isAnswer(error, 409) || isAnswer(error, 423)) {
      // An earlier connection of ours has not been closed yet, or another client sends this upload.
      throw new ConnectionError(error.message, { passes: true, isUnsent: false, cause: error })
    }
    throw error
  } finally {
    idle.stop()
  }
}

export async function fetchUploadStatus(
  server: RemoteServer,
  path: UploadPath,
): Promise<FetchedUploadStatus | null> {
  try {
    const said = await readJsonAnswer(server, await sendRequest(server, { method: 'GET', path }), statusBody)
    return said
  } catch (error) {
    if (isUploadGone(error)) return null
    throw error
  }
}

export function isUploadGone(error: unknown): error is AnswerError {
  return isAnswer(error, 404, 'UPLOAD_NOT_FOUND') || isAnswer(error, 410, 'UPLOAD_GONE')
}

export async function terminateUpload(server: RemoteServer, path: UploadPath): Promise<void> {
  await sendRequest(server, { method: 'DELETE', path, headers: VERSION })
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
  const offset = wholeNumber(response.headers.get('upload-offset'))
  if (offset === null) throw unlike(server, response)
  return offset
}

function unlike({ url }: RemoteServer, response: Response): AnswerError {
  return new AnswerError(`${url} does not answer as a Holdfast server does`, response.status, null, null)
}

import { expect } from 'bun:test'
import { z } from 'zod'
import type { Config } from '../../../src/config.ts'
import type { ErrorCode } from '../../../src/domain/errors.ts'
import { startHoldfast, type TestHoldfast } from '../servers/holdfast.ts'
import { checkDocumented } from './openapi.ts'

/** Closed list of error codes, each with its only status. */
export const STATUS_OF = {
  INVALID_REQUEST: 400,
  INVALID_NAME: 400,
  UNKNOWN_FIELD: 400,
  INVALID_DESTINATION: 400,
  MAX_DEPTH_EXCEEDED: 400,
  INVALID_API_KEY: 401,
  NOT_SIGNED_IN: 401,
  FOREIGN_ORIGIN: 403,
  WRONG_CODE: 403,
  NOT_IDENTIFIED: 403,
  REAUTHENTICATION_REQUIRED: 403,
  WEAK_PASSWORD: 400,
  SIGN_UP_CLOSED: 403,
  INVITATION_NEEDED: 403,
  INVALID_LINK: 404,
  ADMIN_NEEDED: 403,
  LAST_ADMINISTRATOR: 409,
  CONTENT_REFUSED: 403,
  MAIL_DISABLED: 403,
  ADDRESS_TAKEN: 409,
  ACCOUNT_DISABLED: 403,
  SCOPE_MISSING: 403,
  GUEST_UPLOADS_DISABLED: 403,
  PASSWORD_REQUIRED: 403,
  WRONG_PASSWORD: 403,
  INVALID_TOKEN: 403,
  NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  FILE_ARRIVING: 404,
  FOLDER_NOT_FOUND: 404,
  LINK_NOT_FOUND: 404,
  LINK_ENDED: 404,
  LINK_USED_UP: 404,
  UPLOAD_IS_FINAL: 403,
  UPLOAD_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 400,
  DUPLICATE_NAME: 409,
  LINK_HAS_TERMS: 409,
  OFFSET_CONFLICT: 409,
  REQUEST_UNDER_WAY: 409,
  UPLOAD_GONE: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  FILE_TOO_LARGE: 413,
  STORAGE_LIMIT_EXCEEDED: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  IDEMPOTENCY_MISMATCH: 422,
  UPLOAD_LOCKED: 423,
  RATE_LIMITED: 429,
  CHECKSUM_MISMATCH: 460,
  INTERNAL_ERROR: 500,
  FILE_DAMAGED: 500,
  STORAGE_UNAVAILABLE: 503,
  DATABASE_UNAVAILABLE: 503,
  SERVER_BUSY: 503,
  SHUTTING_DOWN: 503,
} satisfies Record<ErrorCode, number>

/** ISO 8601 in UTC with milliseconds and `Z`. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON, or the text of any other answer. */
  readonly body: unknown
}

export interface Part {
  /** Rest of the part's Content-Disposition after `form-data; `. */
  readonly disposition: string
  readonly type?: string
  readonly content: string | Uint8Array
}

export interface UploadOptions {
  readonly name?: string
  /** Content-Type of the part; omitted without a value. */
  readonly type?: string
  /** Value of X-Folder-ID. */
  readonly folder?: string
  readonly headers?: Record<string, string>
  /** Where the form goes, by default to the upload. */
  readonly at?: string
  /** Sends the body without a Content-Length. */
  readonly chunked?: boolean
}

const uploaded = z.object({
  slug: z.string(),
  url: z.string(),
  file_id: z.number(),
  uuid: z.string(),
  thumbnail_url: z.string(),
  size: z.number(),
  sha256: z.string(),
})
export type Uploaded = z.infer<typeof uploaded>

const createdFolder = z.object({ data: z.object({ identifier: z.string() }) })
const plainError = z.strictObject({
  success: z.literal(false),
  message: z.string().min(1),
  error: z.string(),
})
/** Says why, besides. */
const noStorage = plainError.extend({
  error: z.literal('STORAGE_UNAVAILABLE'),
  reason: z.enum(['full', 'guests', 'away', 'refused']),
})
const part = z.enum(['ok', 'down'])
/** Extra fields of `/ready`, which tell programs the failing part. */
const notReady = plainError.extend({
  status: z.literal('not ready'),
  database: part,
  store: part,
  uploads: z.boolean(),
  guest_uploads: z.boolean(),
  removals: z.boolean(),
})
const errorBody = z.union([plainError, noStorage, notReady])

/** A client of the JSON API. Every answer is validated against the server's OpenAPI document. */
export interface Api {
  send(path: string, init: BunFetchRequestInit): Promise<Answer>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  upload(content: string | Uint8Array, options?: UploadOptions): Promise<Answer>
  uploadParts(parts: readonly Part[], options?: UploadOptions): Promise<Answer>
  /** Uploads, expects success, and returns the parsed answer. */
  put(content: string | Uint8Array, options?: UploadOptions): Promise<Uploaded>
  /** Creates a folder, expects success, and returns its identifier. */
  folder(name: string, more?: Record<string, unknown>): Promise<string>
}

/** A client with the given key, or a guest. */
export function api(holdfast: TestHoldfast, key?: string): Api {
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }

  async function send(path: string, init: BunFetchRequestInit): Promise<Answer> {
    const headers = new Headers(init.headers)
    for (const [name, value] of Object.entries(authorization)) {
      if (!headers.has(name)) headers.set(name, value)
    }
    const response = await fetch(holdfast.url + path, { redirect: 'manual', ...init, headers })
    const text = await response.text()
    const type = response.headers.get('content-type') ?? ''
    const isJson = text !== '' && type.startsWith('application/json')
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    }
    await checkAnswer(holdfast, init.method ?? 'GET', path, answer, isJson)
    return answer
  }

  const sendJson = (method: string) => (path: string, body: unknown, headers?: Record<string, string>) =>
    send(path, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })

  const uploadParts = (parts: readonly Part[], options: UploadOptions = {}) => {
    const { type, body } = multipart(parts)
    const folder: Record<string, string> =
      options.folder === undefined ? {} : { 'x-folder-id': options.folder }
    return send(options.at ?? '/api/v1/upload', {
      method: 'POST',
      body: options.chunked ? inPieces(body) : body,
      headers: { 'content-type': type, ...folder, ...options.headers },
    })
  }

  const upload = (content: string | Uint8Array, options: UploadOptions = {}) => {
    const disposition = `name="file"; filename="${options.name ?? 'file.bin'}"`
    const type = options.type === undefined ? {} : { type: options.type }
    return uploadParts([{ disposition, content, ...type }], options)
  }

  const post = sendJson('POST')
  return {
    send,
    get: (path, headers) => send(path, { headers: headers ?? {} }),
    post,
    patch: sendJson('PATCH'),
    upload,
    uploadParts,
    put: async (content, options) => {
      const answer = await upload(content, options)
      expect(answer).toMatchObject({ status: 200, body: { success: true } })
      return uploaded.parse(answer.body)
    },
    folder: async (name, more) => {
      const answer = await post('/api/v1/folder', { name, ...more })
      expect(answer).toMatchObject({ status: 201, body: { success: true } })
      return createdFolder.parse(answer.body).data.identifier
    },
  }
}

/** A client with a new account. */
export async function newcomer(holdfast: TestHoldfast): Promise<Api> {
  return api(holdfast, (await holdfast.addAccount()).apiKey)
}

/** Runs a test on a server with these settings, and stops it afterwards. */
export async function withHoldfast(
  settings: Partial<Config>,
  body: (holdfast: TestHoldfast) => Promise<void>,
) {
  const holdfast = await startHoldfast(settings)
  try {
    await body(holdfast)
  } finally {
    await holdfast.stop()
  }
}

/** Expected shape of a refusal; that it has a message is checked for every answer. */
export function refusal(error: ErrorCode, message: RegExp | null = null) {
  const said = message === null ? {} : { message: expect.stringMatching(message) }
  return { status: STATUS_OF[error], body: { success: false, error, ...said } }
}

/** Multipart body with its Content-Type. */
export function multipart(parts: readonly Part[], boundary = `----holdfast${crypto.randomUUID()}`) {
  const pieces = parts.flatMap(({ disposition, type, content }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`),
    Buffer.from(type === undefined ? '\r\n' : `Content-Type: ${type}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])
  return { type: `multipart/form-data; boundary=${boundary}`, body }
}

function inPieces(body: Uint8Array): ReadableStream<Uint8Array> {
  const length = 16 * 1024
  let sent = 0
  return new ReadableStream({
    async pull(controller) {
      if (sent >= body.length) return controller.close()
      controller.enqueue(body.slice(sent, sent + length))
      sent += length
      // Yielding between pieces keeps Bun from merging them into one body with a length.
      await Bun.sleep(0)
    },
  })
}

/** Checks what holds for every answer, and the OpenAPI document for documented ones. */
async function checkAnswer(
  holdfast: TestHoldfast,
  method: string,
  path: string,
  answer: Answer,
  isJson: boolean,
) {
  const { status, headers, body } = answer
  const call = `${method} ${path} answered ${status}`
  if (!headers.get('x-request-id')) throw new Error(`${call} without X-Request-Id`)
  if ((status === 429 || status === 503) && !/^\d+$/.test(headers.get('retry-after') ?? '')) {
    throw new Error(`${call} without Retry-After`)
  }
  if (status >= 400 && method !== 'HEAD') checkError(holdfast, call, status, body)
  if (method !== 'HEAD') await checkDocumented(holdfast, method, path, { status, body, isJson })
}

function checkError(holdfast: TestHoldfast, call: string, status: number, body: unknown) {
  const { success, data } = errorBody.safeParse(body)
  if (!success) throw new Error(`${call}, but its body is not that of an error: ${Bun.inspect(body)}`)
  const expected = Object.entries(STATUS_OF).find(([code]) => code === data.error)?.[1]
  if (expected !== status) throw new Error(`${call} with ${data.error}, which belongs to ${expected}`)
  if (data.message.includes(holdfast.dataDir) || /sqlite|\bselect\b .*\bfrom\b|\.ts:\d/i.test(data.message)) {
    throw new Error(`${call}, and its message tells too much: ${data.message}`)
  }
}

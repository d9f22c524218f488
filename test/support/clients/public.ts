/** Actions of a visitor: uploads, pages, unlocking folders, signed addresses. */
import { z } from 'zod'
import { startHoldfast, type TestHoldfast } from '../servers/holdfast.ts'
import { checkResponse } from './openapi.ts'

/** Rate limits that no test reaches. */
export const GENEROUS = { rateLimit: 1_000_000, guestRateLimit: 1_000_000 }

const uploadResult = z.object({
  slug: z.string(),
  url: z.string(),
  file_id: z.number(),
  thumbnail_url: z.string(),
  uuid: z.string(),
  size: z.number(),
  sha256: z.string(),
})
export type Uploaded = z.infer<typeof uploadResult>

const detailResult = z.object({
  id: z.number(),
  uuid: z.string(),
  name: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
  downloads: z.number(),
  views: z.number(),
  has_thumbnail: z.boolean(),
})
export type Detail = z.infer<typeof detailResult>

const signedResult = z.object({ file: z.string(), server: z.string(), token: z.string() })

export type Headers = Readonly<Record<string, string>>
export type Bytes = Uint8Array<ArrayBuffer>

export function bearer(key: string): Headers {
  return { authorization: `Bearer ${key}` }
}

export function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length))
}

export function textBytes(text: string): Bytes {
  return new Uint8Array(new TextEncoder().encode(text))
}

/** A running server. */
export type At = Pick<TestHoldfast, 'url'>

/**
 * A fetch that returns redirects instead of following them; `address` may be a path. Answers of the host are
 * validated against its OpenAPI document.
 */
export async function visit(host: At, address: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(address, host.url)
  const response = await fetch(url, { redirect: 'manual', ...init })
  const isItsOwn = url.origin === new URL(host.url).origin
  if (isItsOwn) await checkResponse(host, init.method ?? 'GET', url.pathname, response)
  return response
}

/** Runs the work on a server of its own, for tests that advance its clock. */
export async function withHoldfast(
  settings: Parameters<typeof startHoldfast>[0],
  work: (host: TestHoldfast) => Promise<void>,
): Promise<void> {
  const host = await startHoldfast({ ...GENEROUS, ...settings })
  try {
    await work(host)
  } finally {
    await host.stop()
  }
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Response['headers']
  readonly body: unknown
}

/** One call of the JSON API; throws when the answer is not JSON. */
export async function api(
  host: At,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiAnswer> {
  const response = await visit(host, path, {
    method,
    headers: { ...bearer(key), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

async function must<T>(schema: z.ZodType<T>, answer: Promise<ApiAnswer>): Promise<T> {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return schema.parse(body)
}

export interface UploadOptions {
  readonly key?: string
  readonly name?: string
  readonly bytes?: Bytes
  readonly type?: string
  readonly folder?: string
}

/** Uploads; throws when that is refused. */
export async function upload(host: At, options: UploadOptions = {}): Promise<Uploaded> {
  const form = new FormData()
  const part = new File([options.bytes ?? randomBytes(100)], options.name ?? 'file.bin', {
    type: options.type ?? 'application/octet-stream',
  })
  form.set('file', part)
  const headers = {
    ...(options.key === undefined ? {} : bearer(options.key)),
    ...(options.folder === undefined ? {} : { 'x-folder-id': options.folder }),
  }
  const response = await visit(host, '/api/v1/upload', { method: 'POST', headers, body: form })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`upload answered ${response.status}: ${text}`)
  return uploadResult.parse(JSON.parse(text))
}

export interface FolderFields {
  readonly name?: string
  readonly parent?: string
  readonly public?: number
  readonly password?: string | null
}

/** Creates a folder and returns its identifier. */
export async function makeFolder(
  host: TestHoldfast,
  key: string,
  fields: FolderFields = {},
): Promise<string> {
  const named = { name: `folder ${crypto.randomUUID()}`, ...fields }
  const schema = z.object({ data: z.object({ identifier: z.string() }) })
  return (await must(schema, api(host, key, 'POST', '/api/v1/folder', named))).data.identifier
}

export async function changeFolder(
  host: TestHoldfast,
  key: string,
  identifier: string,
  fields: FolderFields,
): Promise<void> {
  await must(z.unknown(), api(host, key, 'PATCH', `/api/v1/folder/${identifier}`, fields))
}

export async function deleteFile(host: TestHoldfast, key: string, identifier: string): Promise<void> {
  await must(z.unknown(), api(host, key, 'POST', '/file/delete', { identifiers: [identifier] }))
}

/** The file as its owner's API shows it, after counters have been written. */
export async function detail(host: TestHoldfast, key: string, file: Uploaded): Promise<Detail> {
  await host.runJobs()
  const schema = z.object({ data: detailResult })
  return (await must(schema, api(host, key, 'GET', `/api/v1/file/${file.slug}`))).data
}

export function askSigned(
  host: TestHoldfast,
  mode: 'download' | 'view',
  body: unknown,
  headers: Headers = {},
): Promise<Response> {
  return askPublic(host, `/v2/api/public/${mode}`, body, headers)
}

/** Calls one of the public routes that accept JSON. */
export function askPublic(
  host: TestHoldfast,
  path: string,
  body: unknown,
  headers: Headers = {},
): Promise<Response> {
  return visit(host, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** Signed address of a file's bytes, assembled from the answer as clients do. */
export async function signedAddress(
  host: TestHoldfast,
  file: Uploaded,
  mode: 'download' | 'view' = 'download',
  headers: Headers = {},
): Promise<string> {
  const response = await askSigned(host, mode, { file_slug: file.slug }, headers)
  if (response.status !== 200)
    throw new Error(`signing answered ${response.status}: ${await response.text()}`)
  const signed = signedResult.parse(await response.json())
  const address = `${signed.server}/v2/${signed.file}?token=${encodeURIComponent(signed.token)}`
  return mode === 'download' ? `${address}&download=true` : address
}

export interface HtmlElement {
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
}

/** All elements that the CSS selector matches, in order, with character references resolved. */
export function elements(html: string, selector: string): HtmlElement[] {
  const found: { attributes: Record<string, string>; text: string }[] = []
  new HTMLRewriter()
    .on(selector, {
      element(element) {
        const pairs = [...element.attributes].map(([name = '', value = '']) => [name, resolve(value)])
        found.push({ attributes: Object.fromEntries(pairs), text: '' })
      },
      text(chunk) {
        const last = found.at(-1)
        if (last !== undefined) last.text += chunk.text
      },
    })
    .transform(html)
  return found.map(({ attributes, text }) => ({ attributes, text: resolve(text).trim() }))
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function resolve(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    return NAMED[name] ?? whole
  })
}

export interface PasswordForm {
  /** Path that the form posts to. */
  readonly action: string
  readonly nonce: string
  readonly fields: Readonly<Record<string, string>>
}

/** The password form of a page, or null. */
export function passwordForm(html: string): PasswordForm | null {
  const form = elements(html, 'form#password-form')[0]
  if (form === undefined) return null
  const hidden = elements(html, 'form#password-form input[type=hidden]')
  const named = hidden.filter((input) => input.attributes.name !== undefined)
  return {
    action: new URL(form.attributes.action ?? '', 'http://page.invalid/').pathname,
    nonce: elements(html, 'form#password-form #nonce')[0]?.attributes.value ?? '',
    fields: Object.fromEntries(
      named.map((input) => [input.attributes.name ?? '', input.attributes.value ?? '']),
    ),
  }
}

/** The page's password form; throws when there is none. */
export async function openForm(
  host: TestHoldfast,
  path: string,
  headers: Headers = {},
): Promise<PasswordForm> {
  const html = await (await visit(host, path, { headers })).text()
  const form = passwordForm(html)
  if (form === null) throw new Error(`${path} shows no password form`)
  return form
}

export function submit(
  host: TestHoldfast,
  form: PasswordForm,
  password: string,
  headers: Headers = {},
): Promise<Response> {
  const body = new URLSearchParams({ ...form.fields, password }).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  return visit(host, form.action, { method: 'POST', headers: { ...type, ...headers }, body })
}

/** `Cookie` header from the answer's folder cookie; throws when none was set. */
export function folderCookie(response: Response): Headers {
  const set = response.headers.getSetCookie().find((line) => line.startsWith('folder_access_token='))
  const pair = set?.split(';')[0]
  if (pair === undefined) throw new Error(`no folder cookie in an answer of status ${response.status}`)
  return { cookie: pair }
}

/** Submits the password to the page's form and returns the cookie. */
export async function unlock(
  host: TestHoldfast,
  path: string,
  password: string,
  headers: Headers = {},
): Promise<Headers> {
  return folderCookie(await submit(host, await openForm(host, path, headers), password, headers))
}

/** API calls of the fault suites and soak tests, with parsed answers; anything unexpected throws. */
import { z } from 'zod'

export const uploadResult = z.object({
  success: z.literal(true),
  slug: z.string(),
  uuid: z.string(),
  size: z.number(),
  sha256: z.string(),
  thumbnail_url: z.string(),
})
export type Uploaded = z.infer<typeof uploadResult>

const listItem = z.object({
  name: z.string(),
  size: z.number(),
  url: z.string(),
  folder_id: z.string(),
})
const listPage = z.object({ data: z.array(listItem), pagination: z.object({ pages: z.number() }) })
const folderList = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) })
const folderCreated = z.object({ data: z.object({ identifier: z.string() }) })
const accountResult = z.object({
  data: z.object({ storage_used: z.number(), files_count: z.number(), folders_count: z.number() }),
})
const detailResult = z.object({
  data: z.object({ size: z.number(), sha256: z.string(), views: z.number(), downloads: z.number() }),
})
const signed = z.object({ file: z.string(), server: z.string(), token: z.string() })

export interface ListedFile {
  readonly slug: string
  readonly name: string
  readonly size: number
  /** Identifier of the folder, or `root`. */
  readonly folder: string
}

/** An answer other than that of a healthy server. */
export class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer'

  constructor(
    call: string,
    readonly status: number,
    body: string,
  ) {
    super(`${call} answered ${status}: ${body.slice(0, 500)}`)
  }
}

/** A client with the given key. Every method throws UnexpectedAnswer unless it succeeds. */
export interface Caller {
  readonly url: string
  readonly key: string
  get(path: string): Promise<unknown>
  post(path: string, body: unknown): Promise<unknown>
  upload(content: Uint8Array<ArrayBuffer>, name: string, folder?: string): Promise<Uploaded>
  /** Deletes files; throws when any could not be deleted. */
  deleteFiles(slugs: readonly string[]): Promise<void>
  createFolder(name: string, parent?: string): Promise<string>
  files(): Promise<ListedFile[]>
  folders(): Promise<{ id: string; name: string }[]>
  account(): Promise<z.infer<typeof accountResult>['data']>
  detail(slug: string): Promise<z.infer<typeof detailResult>['data']>
}

export function caller(url: string, key: string): Caller {
  const send = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | FormData,
  ) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body === undefined ? {} : { body }),
      // A kept-alive connection may close between requests, and fetch would then send the request twice.
      keepalive: false,
    })
    const text = await response.text()
    if (!response.ok) throw new UnexpectedAnswer(`${method} ${path}`, response.status, text)
    const json: unknown = JSON.parse(text)
    return json
  }
  const get = (path: string) => send('GET', path, {})
  const post = async (path: string, body: unknown) =>
    send('POST', path, { 'content-type': 'application/json' }, JSON.stringify(body))
  return {
    url,
    key,
    get,
    post,
    async upload(content, name, folder = 'root') {
      const form = new FormData()
      form.set('file', new File([content], name))
      return uploadResult.parse(await send('POST', '/api/v1/upload', { 'x-folder-id': folder }, form))
    },
    async deleteFiles(identifiers) {
      z.object({ success: z.literal(true) }).parse(await post('/file/delete', { identifiers }))
    },
    async createFolder(name, parent = 'root') {
      return folderCreated.parse(await post('/api/v1/folder', { name, parent })).data.identifier
    },
    async files() {
      const all: ListedFile[] = []
      for (let page = 1, pages = 1; page <= pages; page++) {
        const answer = listPage.parse(await get(`/api/v1/files?per_page=100&page=${page}`))
        pages = answer.pagination.pages
        for (const { url: link, name, size, folder_id: folder } of answer.data) {
          all.push({ slug: link.slice(link.lastIndexOf('/') + 1), name, size, folder })
        }
      }
      return all
    },
    folders: async () => folderList.parse(await get('/api/v1/folders')).data,
    account: async () => accountResult.parse(await get('/api/v1/account')).data,
    detail: async (slug) => detailResult.parse(await get(`/api/v1/file/${slug}`)).data,
  }
}

/** Signed address of a file's bytes, as a guest gets it. */
export async function signedAddress(url: string, slug: string, mode: 'view' | 'download' = 'download') {
  const response = await fetch(`${url}/v2/api/public/${mode}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ file_slug: slug }),
  })
  if (!response.ok) throw new UnexpectedAnswer(`signing ${slug}`, response.status, await response.text())
  const { file, server, token } = signed.parse(await response.json())
  const address = `${server}/v2/${file}?token=${encodeURIComponent(token)}`
  return mode === 'download' ? `${address}&download=true` : address
}

/** Size and hexadecimal SHA-256 of a file, downloaded by a guest. */
export async function readBack(url: string, slug: string): Promise<{ size: number; sha256: string }> {
  const response = await fetch(await signedAddress(url, slug))
  if (!response.ok) throw new UnexpectedAnswer(`reading ${slug}`, response.status, await response.text())
  const hash = new Bun.CryptoHasher('sha256')
  let size = 0
  for await (const piece of response.body ?? []) {
    hash.update(piece)
    size += piece.length
  }
  return { size, sha256: hash.digest('hex') }
}

export function sha256(content: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(content).digest('hex')
}

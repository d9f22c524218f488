import * as z from 'zod/mini'
import type { AskedFields } from '../domain/upload-terms.ts'
import {
  type AccountFields,
  accountFields,
  type ContributionItem,
  claimedReceipt,
  contributionList,
  type DeletionFields,
  deletionFields,
  type FileDetailFields,
  type FileItem,
  type FolderFields,
  type FolderItem,
  fileDetailFields,
  fileList,
  folderCreated,
  folderFields,
  folderListFields,
  type LinkItem,
  type LinkLogItem,
  linkFields,
  linkList,
  linkLogList,
  type OwnLinkFields,
  ownLinkFields,
  type ReceiptFields,
  receiptFields,
  type Uploaded,
} from './answers.ts'
import { ConnectionError } from './failure.ts'
import { type RemoteServer, readJsonAnswer, sendRequest } from './http.ts'
import { INTERACTIVE, type RetryPatience, TRANSFER } from './policy/upload-policy.ts'
import type { Retries } from './retries.ts'
import { createWebhooksApi, type WebhooksApi } from './webhooks-api.ts'

/** Identifier, or `root`. */
export type FolderName = string

export interface Api {
  readonly server: RemoteServer
  account(): Promise<AccountFields>
  folders(): Promise<FolderItem[]>
  subfolders(parent: FolderName): Promise<FolderItem[]>
  /** With its ancestors, outermost first. */
  folder(identifier: string): Promise<FolderFields>
  createFolder(name: string, parent: FolderName, more?: WantedFolder): Promise<string>
  changeFolder(folder: string, name: string): Promise<void>
  moveFolder(folder: string, parent: FolderName): Promise<void>
  deleteFolders(identifiers: readonly string[]): Promise<DeletionFields>
  files(filter: FileFilter): AsyncIterable<FileItem>
  /** By slug, UUID or number. */
  file(identifier: string): Promise<FileDetailFields>
  renameFile(identifier: string, name: string): Promise<void>
  moveFile(identifier: string, folder: FolderName): Promise<void>
  deleteFiles(identifiers: readonly string[]): Promise<DeletionFields>
  links(): AsyncIterable<LinkItem>
  link(slug: string): Promise<OwnLinkFields>
  /** Contributions, including running ones, newest first. */
  contributions(slug: string): AsyncIterable<ContributionItem>
  makeLink(wanted: WantedLink): Promise<LinkItem>
  revokeLink(slug: string): Promise<void>
  /** Newest first. */
  linkLog(slug: string): AsyncIterable<LinkLogItem>
  readonly webhooks: WebhooksApi
  /** Needs no key. */
  receipt(receipt: string): Promise<ReceiptFields>
  receiptLog(receipt: string): AsyncIterable<LinkLogItem>
  changeReceipt(receipt: string, change: ReceiptChange): Promise<ReceiptFields>
  deleteReceipt(receipt: string): Promise<void>
  /** Null for a transfer, whose address stays. */
  claimReceipt(receipt: string, folder: FolderName): Promise<Uploaded | null>
}

export interface ReceiptChange {
  readonly name?: string
  /** Extends the file's life as a visit does. */
  readonly keep?: true
  readonly ends_at?: string | null
  readonly max_downloads?: number | null
  readonly password?: string | null
  readonly message?: string
}

export interface WantedLink {
  readonly files: readonly string[]
  readonly folders: readonly string[]
  readonly ends_at?: string
  readonly max_downloads?: number
  readonly password?: string
  readonly name?: string
  readonly message?: string
  readonly slug?: string
  readonly uploads?: WantedUploads
}

export interface WantedUploads {
  readonly max_files?: number
  readonly max_size?: number
  readonly max_file_size?: number
  readonly types?: readonly string[]
  readonly fields?: AskedFields
}

export interface WantedFolder {
  readonly public?: 0 | 1
  readonly password?: string
}

export interface FileFilter {
  readonly folder?: FolderName
  readonly search?: string
  readonly sort?: 'created_at' | 'name' | 'size' | 'downloads'
  readonly order?: 'asc' | 'desc'
}

export function createApi(server: RemoteServer, retries: Retries, isLong = false): Api {
  const patience: RetryPatience = isLong ? TRANSFER : INTERACTIVE

  async function get<T>(path: string, shape: z.ZodMiniType<T>): Promise<T> {
    return retries.persist(patience, async () =>
      readJsonAnswer(server, await sendRequest(server, { method: 'GET', path }), shape),
    )
  }

  /** Not repeated when no answer came, since it may have been done. */
  async function send<T>(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: unknown,
    shape: z.ZodMiniType<T>,
  ): Promise<T> {
    const attempt = async () => {
      const headers = { 'Content-Type': 'application/json' }
      return readJsonAnswer(
        server,
        await sendRequest(server, { method, path, headers, body: JSON.stringify(body) }),
        shape,
      )
    }
    return retries.persist(patience, () => attempt().catch(withDoubt))
  }

  async function* pages<Item>(list: string, shape: z.ZodMiniType<PageOf<Item>>): AsyncGenerator<Item> {
    for (let page = 1, last = 1; page <= last; page++) {
      const more = `${list.includes('?') ? '&' : '?'}per_page=100&page=${page}`
      const answer = await get(list + more, shape)
      last = answer.pagination.pages
      yield* answer.data
    }
  }

  return {
    server,
    account: async () => (await get('/api/v1/account', accountFields)).data,
    folders: async () => (await get('/api/v1/folders', folderListFields)).data,
    subfolders: async (parent) =>
      (await get(`/api/v1/folders?parent=${encodeURIComponent(parent)}`, folderListFields)).data,
    folder: async (identifier) => (await get(folderPath(identifier), folderFields)).data,
    createFolder: async (name, parent, more = {}) => {
      const created = await send('POST', '/api/v1/folder', { name, parent, ...more }, folderCreated)
      return created.data.identifier
    },
    async changeFolder(folder, name) {
      await send('PATCH', folderPath(folder), { name }, anything)
    },
    async moveFolder(folder, parent) {
      await send('POST', '/api/v1/folder/move', { folder, parent }, anything)
    },
    deleteFolders: (identifiers) => send('POST', '/api/v1/folder/delete', { identifiers }, deletionFields),
    files: (filter) => pages(`/api/v1/files?${new URLSearchParams({ ...filter })}`, fileList),
    file: async (identifier) =>
      (await get(`/api/v1/file/${encodeURIComponent(identifier)}`, fileDetailFields)).data,
    async renameFile(identifier, name) {
      await send('PATCH', `/api/v1/file/${encodeURIComponent(identifier)}`, { name }, anything)
    },
    async moveFile(identifier, folder) {
      await send('POST', '/api/v1/file/move', { file: identifier, folder }, anything)
    },
    deleteFiles: (identifiers) => send('POST', '/api/v1/file/delete', { identifiers }, deletionFields),
    linkLog: (slug) => pages(`/api/v1/links/${encodeURIComponent(slug)}/log`, linkLogList),
    links: () => pages('/api/v1/links', linkList),
    link: async (slug) => (await get(`/api/v1/links/${encodeURIComponent(slug)}`, ownLinkFields)).data,
    contributions: (slug) =>
      pages(`/api/v1/links/${encodeURIComponent(slug)}/contributions`, contributionList),
    makeLink: async (wanted) => (await send('POST', '/api/v1/links', wanted, linkFields)).data,
    async revokeLink(slug) {
      await send('DELETE', `/api/v1/links/${encodeURIComponent(slug)}`, {}, anything)
    },
    webhooks: createWebhooksApi(get, send),
    receipt: async (receipt) => (await get(receiptPath(receipt), receiptFields)).data,
    receiptLog: (receipt) => pages(`${receiptPath(receipt)}/log`, linkLogList),
    changeReceipt: async (receipt, change) =>
      (await send('PATCH', receiptPath(receipt), change, receiptFields)).data,
    async claimReceipt(receipt, folder) {
      const claimed = await send('POST', `${receiptPath(receipt)}/claim`, { folder }, claimedReceipt)
      return 'slug' in claimed ? claimed : null
    },
    async deleteReceipt(receipt) {
      await send('DELETE', receiptPath(receipt), {}, anything)
    },
  }
}

interface PageOf<Item> {
  readonly data: Item[]
  readonly pagination: { readonly pages: number }
}

const folderPath = (identifier: string) => `/api/v1/folder/${encodeURIComponent(identifier)}`
const receiptPath = (receipt: string) => `/api/v1/receipt/${encodeURIComponent(receipt)}`

const anything = z.unknown()

/** A change whose answer was lost may have been made. */
function withDoubt(error: unknown): never {
  if (!(error instanceof ConnectionError) || error.isUnsent) throw error
  const message = `${error.message}; whether it was done is not known, so look before you repeat it`
  throw new ConnectionError(message, { passes: false, isUnsent: false, cause: error })
}

import { type Account, accountAnswer } from '../../src/contract/account.ts'
import {
  archiveAddressAnswer,
  type FileDetail,
  fileAnswer,
  filesMovedAnswer,
} from '../../src/contract/files.ts'
import { folderCreatedAnswer, foldersMovedAnswer } from '../../src/contract/folders.ts'
import { fetchJson, jsonRequest, refusedRequest } from '../shared/fetch-json.ts'
import type { Entry, FileEntry, FolderEntry, Place } from './entry.ts'
import type { FetchWindow } from './list/listing.ts'
import { WINDOW } from './list/listing.ts'
import type { FailedOperation } from './operations.ts'
import { filePage, folderEntries, folderEntryAnswer } from './shapes.ts'

/** All functions throw RequestFailure. */

export const fetchWindow: FetchWindow = async (query, index, signal) => {
  const { place, search, sort, order } = query
  const asked = new URLSearchParams({ page: String(index + 1), per_page: String(WINDOW), sort, order })
  if (search === '') asked.set('folder', place)
  else {
    asked.set('search', search)
    asked.set('totals', 'bounded')
  }
  const { data, pagination } = await fetchJson(filePage, `/api/v1/files?${asked}`, { signal })
  return { files: data, total: pagination.total, isAtLeast: pagination.total_exact === false }
}

export async function fetchAccount(): Promise<Account> {
  return (await fetchJson(accountAnswer, '/api/v1/account')).data
}

export async function fetchFolders(): Promise<readonly FolderEntry[]> {
  return (await fetchJson(folderEntries, '/api/v1/folders')).data
}

export async function fetchDetail(file: FileEntry, signal: AbortSignal): Promise<FileDetail> {
  return (await fetchJson(fileAnswer, `/api/v1/file/${file.id}`, { signal })).data
}

/** The server's limit per request. */
export const BATCH_SIZE = 200

/** Returns those that were not moved. */
export async function moveFiles(files: readonly FileEntry[], to: Place): Promise<readonly FailedOperation[]> {
  const body = { files: files.map(({ id }) => id), folder: to }
  return refusedOf(files, async () => {
    return (await fetchJson(filesMovedAnswer, '/api/v1/files/move', jsonRequest('POST', body))).data.results
  })
}

/** Returns those that were not moved. */
export async function moveFolders(
  folders: readonly FolderEntry[],
  to: Place,
): Promise<readonly FailedOperation[]> {
  const body = { folders: folders.map(({ id }) => id), parent: to }
  return refusedOf(folders, async () => {
    return (await fetchJson(foldersMovedAnswer, '/api/v1/folders/move', jsonRequest('POST', body))).data
      .results
  })
}

interface Result {
  readonly success: boolean
  readonly error?: string | undefined
}

async function refusedOf(
  entries: readonly Entry[],
  act: () => Promise<readonly Result[]>,
): Promise<readonly FailedOperation[]> {
  try {
    const results = await act()
    return entries.flatMap(({ name }, index) => {
      const result = results[index]
      return result?.success === true ? [] : [{ name, code: result?.error ?? 'INTERNAL_ERROR' }]
    })
  } catch (error) {
    const code = refusedRequest(error)
    if (code === null) throw error
    return entries.map(({ name }) => ({ name, code }))
  }
}

export async function renameEntry(entry: Entry, name: string): Promise<string> {
  if (entry.kind === 'folder') return (await changeFolder(entry, { name })).name
  const request = jsonRequest('PATCH', { name })
  return (await fetchJson(fileAnswer, `/api/v1/file/${entry.id}`, request)).data.name
}

export function renameBack(entry: Entry): Promise<readonly FailedOperation[]> {
  return refusedOf([entry], async () => {
    await renameEntry(entry, entry.name)
    return [{ success: true }]
  })
}

export async function createFolder(name: string, parent: Place): Promise<Place> {
  const { data } = await fetchJson(
    folderCreatedAnswer,
    '/api/v1/folder',
    jsonRequest('POST', { name, parent }),
  )
  return data.identifier
}

export interface FolderChange {
  readonly name?: string
  readonly public?: boolean
  /** Null removes it. */
  readonly password?: string | null
}

export async function changeFolder({ id }: FolderEntry, change: FolderChange): Promise<FolderEntry> {
  return (await fetchJson(folderEntryAnswer, `/api/v1/folder/${id}`, jsonRequest('PATCH', change))).data
}

/** Zip of files and folders; expires within minutes. */
export async function archiveOf(
  files: readonly FileEntry[],
  folders: readonly FolderEntry[],
): Promise<string> {
  const body = { files: files.map(({ id }) => id), folders: folders.map(({ id }) => id) }
  return (await fetchJson(archiveAddressAnswer, '/api/v1/files/download', jsonRequest('POST', body))).data.url
}

export function folderArchive(place: Place): string {
  return `/api/v1/folder/${place}/download`
}

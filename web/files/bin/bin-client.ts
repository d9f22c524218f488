import {
  type BinEntry,
  binAnswer,
  binnedAnswer,
  deletedFromBinAnswer,
  type EntryResult,
  emptiedAnswer,
  restoredAnswer,
} from '../../../src/contract/bin.ts'
import type { ErrorCode } from '../../../src/domain/errors.ts'
import { fetchJson, jsonRequest, refusedRequest } from '../../shared/fetch-json.ts'
import { fetchDetail, fetchFolders } from '../client.ts'
import {
  type Entry,
  type FileEntry,
  fileKey,
  filesOf,
  folderKey,
  foldersOf,
  type Key,
  type Place,
} from '../entry.ts'
import type { FailedOperation } from '../operations.ts'

/** All functions throw RequestFailure. */

export type BinNumber = number

/** `isRepeated`: an earlier request may have done this, so missing entries count as binned. */
export async function putIntoBin(
  entries: readonly Entry[],
  binned: Map<Key, BinNumber>,
  isRepeated: boolean,
): Promise<readonly FailedOperation[]> {
  const files = filesOf(entries)
  const folders = foldersOf(entries)
  const body = { files: files.map(({ id }) => id), folders: folders.map(({ id }) => id) }
  const results = await resultsOf(entries.length, () =>
    fetchJson(binnedAnswer, '/api/v1/bin', jsonRequest('POST', body)),
  )
  return [...files, ...folders].flatMap(({ key, name }, index) => {
    const { success, entry, error } = results[index] ?? NO_RESULT
    if (success && entry !== undefined) binned.set(key, entry)
    return success || (isRepeated && isMissing(error)) ? [] : [{ name, code: error ?? NO_RESULT.error }]
  })
}

/** Restored entries count as done; entries deleted for good fail. */
export async function restoreFromBin(
  entries: readonly Entry[],
  binned: ReadonlyMap<Key, BinNumber>,
): Promise<readonly FailedOperation[]> {
  const isWithoutNumber = entries.some(({ key }) => !binned.has(key))
  const known = isWithoutNumber ? await findInBin(entries, binned) : binned
  const wanted = entries.flatMap((entry) => {
    const number = known.get(entry.key)
    return number === undefined ? [] : [{ number, entry }]
  })
  const missing = entries.filter(({ key }) => !known.has(key))
  if (wanted.length === 0) return goneOf(missing)
  const body = { entries: wanted.map(({ number }) => number) }
  const results = await resultsOf(wanted.length, () =>
    fetchJson(restoredAnswer, '/api/v1/bin/restore', jsonRequest('POST', body)),
  )
  const outcomeOf = (index: number) => results[index] ?? NO_RESULT
  const failed = wanted.flatMap(({ entry: { name } }, index) => {
    const { success, error } = outcomeOf(index)
    return success || error === NOT_IN_BIN ? [] : [{ name, code: error ?? NO_RESULT.error }]
  })
  const left = wanted.flatMap(({ entry }, index) => (outcomeOf(index).error === NOT_IN_BIN ? [entry] : []))
  return [...failed, ...(await goneOf([...missing, ...left]))]
}

async function goneOf(entries: readonly Entry[]): Promise<readonly FailedOperation[]> {
  if (entries.length === 0) return []
  const folders = foldersOf(entries).length === 0 ? [] : await fetchFolders()
  const gone = await Promise.all(
    entries.map((entry) =>
      entry.kind === 'folder' ? folders.every(({ id }) => id !== entry.id) : isFileGone(entry),
    ),
  )
  return entries.filter((_, index) => gone[index]).map(({ name }) => ({ name, code: 'GONE' }))
}

async function isFileGone(file: FileEntry): Promise<boolean> {
  try {
    await fetchDetail(file, new AbortController().signal)
    return false
  } catch (error) {
    if (refusedRequest(error) === 'FILE_NOT_FOUND') return true
    throw error
  }
}

/** Newest first, so that few pages are read. */
async function findInBin(
  entries: readonly Entry[],
  binned: ReadonlyMap<Key, BinNumber>,
): Promise<ReadonlyMap<Key, BinNumber>> {
  const found = new Map(binned)
  const files = new Map(filesOf(entries).map(({ uuid, id }) => [uuid, fileKey(id)]))
  for (let page = 1, pages = 1; page <= pages; page++) {
    const answer = await fetchBin(page)
    pages = answer.pages
    for (const { id, uuid, identifier } of answer.entries) {
      const key = uuid === null ? folderKey(identifier ?? '') : files.get(uuid)
      if (key !== undefined && !found.has(key)) found.set(key, id)
    }
    if (entries.every(({ key }) => found.has(key))) break
  }
  return found
}

export async function fetchBin(page: number): Promise<{ entries: readonly BinEntry[]; pages: number }> {
  const { data, pagination } = await fetchJson(binAnswer, `/api/v1/bin?per_page=100&page=${page}`)
  return { entries: data, pages: pagination.pages }
}

/** To its old place, or to `folder`. Returns the code of a refusal. */
export function restoreEntry(entry: BinEntry, folder?: Place): Promise<string | null> {
  return dealtWith(entry, (entries) => {
    const body = { entries, ...(folder === undefined ? {} : { folder }) }
    return fetchJson(restoredAnswer, '/api/v1/bin/restore', jsonRequest('POST', body))
  })
}

export function deleteEntry(entry: BinEntry): Promise<string | null> {
  return dealtWith(entry, (entries) =>
    fetchJson(deletedFromBinAnswer, '/api/v1/bin/delete', jsonRequest('POST', { entries })),
  )
}

/** A missing entry counts as done. */
async function dealtWith(
  { id }: BinEntry,
  act: (entries: readonly BinNumber[]) => Promise<Outcomes>,
): Promise<string | null> {
  const [result = NO_RESULT] = await resultsOf(1, () => act([id]))
  const { success, error } = result
  return success || error === NOT_IN_BIN ? null : (error ?? NO_RESULT.error)
}

export async function emptyWholeBin(): Promise<void> {
  await fetchJson(emptiedAnswer, '/api/v1/bin', { method: 'DELETE' })
}

/** Of the entry itself; its folder or target has codes of its own. */
const NOT_IN_BIN: ErrorCode = 'NOT_FOUND'

const NO_RESULT = { success: false, error: 'INTERNAL_ERROR' satisfies ErrorCode, entry: undefined }

type Outcome = Partial<EntryResult> & Pick<EntryResult, 'success'>

interface Outcomes {
  readonly data: { readonly results: readonly Outcome[] }
}

/** One outcome per entry, also when the whole request was refused. */
async function resultsOf(count: number, act: () => Promise<Outcomes>): Promise<readonly Outcome[]> {
  try {
    return (await act()).data.results
  } catch (error) {
    const code = refusedRequest(error)
    if (code === null) throw error
    return Array.from({ length: count }, () => ({ success: false, error: code }))
  }
}

function isMissing(code: string | undefined): boolean {
  return code?.endsWith('NOT_FOUND') === true
}

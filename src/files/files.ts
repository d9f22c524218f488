import { noteChange } from '../core/changes.rows.ts'
import { pageAtOneMoment } from '../core/pages-at-one-moment.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor, Reach } from '../domain/access.ts'
import { type Clock, yieldToEventLoop } from '../domain/clock.ts'
import { type ErrorCode, Refusal } from '../domain/errors.ts'
import { cleanFileName, LONGEST_SEARCH } from '../domain/file-name.ts'
import type { FileIdentifier, FolderId, FolderPlace } from '../domain/ids.ts'
import { foldName } from '../domain/sort-key.ts'
import { boundedNfc } from '../domain/text.ts'
import { type FileListRow, type FileOrder, filesBefore, listFiles } from './file-lists.rows.ts'
import { searchFiles } from './file-search.rows.ts'
import { type FileDetailRow, placeFile, renameFile } from './files.rows.ts'
import { assertMayPlace } from './folders/exposure.ts'
import { changeFiles, countedFiles, fileCount, findFolder } from './folders/folders.rows.ts'
import { resolvePlace } from './folders/places.ts'
import { ownFile } from './own-file.ts'
import type { Usage } from './use-counters.ts'

export type FileDetail = FileDetailRow
export type ListedFile = FileListRow

export type { FileOrder }

export interface FileChange {
  readonly name?: string
  readonly folder?: FolderPlace
}

export interface FileListQuery extends FileOrder {
  readonly page: number
  readonly perPage: number
  /** Null means all files within reach. */
  readonly folder: FolderPlace | null
  readonly search: string
  /** Counting may stop at `COUNTED_EXACTLY`. */
  readonly boundsTotal?: boolean
}

export const COUNTED_EXACTLY = 10_000

export interface FilePage {
  readonly files: readonly FileListRow[]
  readonly total: number
  /** False where `total` is a lower bound. */
  readonly isExact: boolean
}

export interface FileMoveResult {
  readonly file: FileIdentifier
  readonly error: ErrorCode | null
}

/** A file out of reach is FILE_NOT_FOUND, like a missing one. */
export interface Files {
  get(reach: Reach, identifier: FileIdentifier): Promise<FileDetailRow>
  /** Throws Refusal FOLDER_NOT_FOUND. A page past the end is empty. */
  list(reach: Reach, query: FileListQuery): Promise<FilePage>
  /** Direct children, newest first. */
  walk(reach: Reach, place: FolderPlace): Promise<AsyncIterable<FileListRow>>
  /** Atomic. Throws Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND or, for a move, SCOPE_MISSING. */
  change(reach: Actor, identifier: FileIdentifier, change: FileChange): Promise<FileDetailRow>
  /** Throws Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND or SCOPE_MISSING. */
  move(reach: Actor, identifier: FileIdentifier, place: FolderPlace): Promise<void>
  /** Each by itself, in order. Throws Refusal FOLDER_NOT_FOUND when the destination is unknown. */
  moveMany(
    reach: Actor,
    identifiers: readonly FileIdentifier[],
    place: FolderPlace,
  ): Promise<FileMoveResult[]>
}

const STEP = 500

export function createFiles(db: Database, usage: Usage, clock: Clock): Files {
  const counted = (file: FileListRow): FileListRow => {
    const { downloads } = usage.pending(file.id)
    return downloads === 0 ? file : { ...file, downloads: file.downloads + downloads }
  }

  const files: Files = {
    async get(reach, identifier) {
      const file = await ownFile(db, reach, identifier)
      const { views, downloads } = usage.pending(file.id)
      return { ...file, views: file.views + views, downloads: file.downloads + downloads }
    },

    async list(reach, query) {
      const place = await listedPlace(db, reach, query.folder)
      if (place === null) return { files: [], total: 0, isExact: true }
      const found = {
        account: reach.account,
        folder: place.folder,
        ...(place.tree === null ? {} : { tree: place.tree }),
        sort: query.sort,
        order: query.order,
        offset: (query.page - 1) * query.perPage,
        limit: query.perPage,
      }
      if (query.search !== '') {
        const hits = await searchFiles(db, {
          ...found,
          needle: needleOf(query.search),
          ...(query.boundsTotal === true ? { countedTo: COUNTED_EXACTLY } : {}),
        })
        return { ...hits, files: hits.files.map(counted) }
      }
      const { rows, total } = await pageAtOneMoment(place.count, (of) =>
        listFiles(db, found, place.tree === null ? of.total : null, of.isClearing),
      )
      return { files: rows.map(counted), total, isExact: true }
    },

    async walk(reach, place) {
      return walkFolder(db, await resolvePlace(db, reach, place))
    },

    async change(reach, identifier, change) {
      const name = change.name === undefined ? null : cleanFileName(change.name)
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, reach.account)
        const file = await ownFile(trx, reach, identifier)
        if (change.folder !== undefined) await placeWithin(trx, reach, file, change.folder, clock.now())
        if (name === null) return
        await renameFile(trx, file.id, name)
        const { folder_id } = await ownFile(trx, reach, identifier)
        await noteChange(trx, reach.account, { kind: 'file.changed', file: file.id, place: folder_id })
      })
      return files.get(reach, identifier)
    },

    async move(reach, identifier, place) {
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, reach.account)
        await placeWithin(trx, reach, await ownFile(trx, reach, identifier), place, clock.now())
      })
    },

    async moveMany(reach, identifiers, place) {
      await resolvePlace(db, reach, place)
      const results: FileMoveResult[] = []
      for (const file of identifiers) {
        try {
          await files.move(reach, file, place)
          results.push({ file, error: null })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          results.push({ file, error: error.code })
        }
        await yieldToEventLoop()
      }
      return results
    },
  }
  return files
}

async function placeWithin(
  trx: Trx,
  reach: Actor,
  file: FileDetailRow,
  place: FolderPlace,
  now: number,
): Promise<void> {
  const folder = await resolvePlace(trx, reach, place)
  if (folder === file.folder_id) return
  await assertMayPlace(trx, reach, { from: file.folder_id, to: folder, now })
  await placeFile(trx, file.id, folder)
  await changeFiles(trx, file.folder_id, -1, -file.size)
  await changeFiles(trx, folder, 1, file.size)
  const change = { kind: 'file.moved', file: file.id, place: folder, from: file.folder_id } as const
  await noteChange(trx, reach.account, change)
}

/** Newest first; holds one step in memory. */
export async function* walkFolder(db: Database, folder: FolderId): AsyncGenerator<FileListRow> {
  let before: FileListRow | null = null
  for (;;) {
    const step: FileListRow[] = await filesBefore(db, folder, before, STEP)
    yield* step
    before = step.at(-1) ?? null
    if (before === null || step.length < STEP) return
  }
}

/** Throws Refusal INVALID_REQUEST. */
function needleOf(search: string): string {
  const text = boundedNfc(search, LONGEST_SEARCH)
  if (text !== null) return foldName(text)
  throw new Refusal('INVALID_REQUEST', `"search": may have ${LONGEST_SEARCH} characters at most`)
}

interface ListedPlace {
  /** Null means all of the account. */
  readonly folder: FolderId | null
  /** Null means direct children only. */
  readonly tree: 'small' | 'large' | null
  /** `isClearing`: rows may include unmarked ones of a deleted folder. */
  count(): Promise<{ readonly total: number; readonly isClearing: boolean }>
}

/** A tree with more than one in so many of the account's files is large. */
const LARGE_PART = 4

/** Null when nothing is left within reach. Throws Refusal FOLDER_NOT_FOUND. */
async function listedPlace(
  db: Database,
  reach: Reach,
  place: FolderPlace | null,
): Promise<ListedPlace | null> {
  if (place !== null) {
    const folder = await resolvePlace(db, reach, place)
    return { folder, tree: null, count: async () => inFolder(await fileCount(db, folder)) }
  }
  const all = () => countedFiles(db, reach.account)
  if (reach.within === null) return { folder: null, tree: null, count: all }
  const top = await findFolder(db, reach.within)
  if (top === undefined) return null
  const count = async () => inFolder((await findFolder(db, top.id))?.tree_files ?? 0)
  if (top.tree_folders === 0) return { folder: top.id, tree: null, count }
  const isLarge = top.tree_files * LARGE_PART > (await all()).total
  return { folder: top.id, tree: isLarge ? 'large' : 'small', count }
}

function inFolder(total: number) {
  return { total, isClearing: false }
}

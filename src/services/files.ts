import { findAccount, topFolder } from '../database/accounts.ts'
import { noteChange } from '../database/changes.ts'
import { lockAccount } from '../database/differences.ts'
import { searchFiles } from '../database/file-search.ts'
import {
  type FileDetailRow,
  type FileListRow,
  type FileOrder,
  filesBefore,
  findFile,
  listFiles,
  placeFile,
  renameFile,
} from '../database/files.ts'
import { changeFiles } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type ErrorCode, Refusal } from '../domain/errors.ts'
import { cleanFileName, foldName } from '../domain/file-name.ts'
import type { AccountId, FileIdentifier, FolderId, FolderPlace } from '../domain/ids.ts'
import { fileNotFound } from './access.ts'
import { ownFolder, placeOf } from './places.ts'
import { letOthersIn } from './turns.ts'
import type { Usage } from './usage.ts'

/** A file with its content's hash and key. */
export type FileDetail = FileDetailRow
/** A file as lists show it. */
export type ListedFile = FileListRow

export type { FileOrder }

export interface FileListQuery extends FileOrder {
  readonly page: number
  readonly perPage: number
  /** null: all of the account's files. */
  readonly folder: FolderPlace | null
  /** '' for every name. */
  readonly search: string
}

export interface FilePage {
  readonly files: readonly FileListRow[]
  readonly total: number
}

export interface FileMoveResult {
  readonly file: FileIdentifier
  readonly error: ErrorCode | null
}

/** What owners do with their files. A foreign file is FILE_NOT_FOUND, just as one that is not there. */
export interface Files {
  get(account: AccountId, identifier: FileIdentifier): Promise<FileDetailRow>
  /** Throws Refusal FOLDER_NOT_FOUND. A page past the end is empty. */
  list(account: AccountId, query: FileListQuery): Promise<FilePage>
  /** All files directly in the place, newest first, in steps. */
  walk(account: AccountId, place: FolderPlace): Promise<AsyncIterable<FileListRow>>
  /** Throws Refusal INVALID_NAME when nothing is left of the name. */
  rename(account: AccountId, identifier: FileIdentifier, name: string): Promise<FileDetailRow>
  /** Throws Refusal FILE_NOT_FOUND or FOLDER_NOT_FOUND. */
  move(account: AccountId, identifier: FileIdentifier, place: FolderPlace): Promise<void>
  /** Each by itself, in the order asked. Throws Refusal FOLDER_NOT_FOUND when the destination is unknown. */
  moveMany(
    account: AccountId,
    identifiers: readonly FileIdentifier[],
    place: FolderPlace,
  ): Promise<FileMoveResult[]>
}

const STEP = 500

export function createFiles(db: Db, usage: Usage): Files {
  const counted = <T extends FileListRow>(file: T): T => {
    const { views, downloads } = usage.pending(file.id)
    return { ...file, views: file.views + views, downloads: file.downloads + downloads }
  }

  async function owned(trx: Db, account: AccountId, identifier: FileIdentifier): Promise<FileDetailRow> {
    const file = await findFile(trx, identifier)
    if (file === undefined || file.account_id !== account) throw fileNotFound()
    return file
  }

  const files: Files = {
    get: async (account, identifier) => counted(await owned(db, account, identifier)),

    async list(account, query) {
      const folder = query.folder === null ? null : await placeWithCount(db, account, query.folder)
      const found = {
        account,
        folder: folder?.id ?? null,
        sort: query.sort,
        order: query.order,
        offset: (query.page - 1) * query.perPage,
        limit: query.perPage,
      }
      if (query.search !== '') {
        const hits = await searchFiles(db, { ...found, needle: foldName(query.search) })
        return { files: hits.files.map(counted), total: hits.total }
      }
      const rows = await listFiles(db, found)
      const total = folder?.fileCount ?? (await findAccount(db, account))?.files_count ?? 0
      return { files: rows.map(counted), total }
    },

    async walk(account, place) {
      return walkFolder(db, await placeOf(db, account, place))
    },

    async rename(account, identifier, newName) {
      const name = cleanFileName(newName)
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        const file = await owned(trx, account, identifier)
        await renameFile(trx, file.id, name, foldName(name))
        await noteChange(trx, account, { kind: 'file.changed', file: file.id, place: file.folder_id })
      })
      return files.get(account, identifier)
    },

    async move(account, identifier, place) {
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        const file = await owned(trx, account, identifier)
        const folder = await placeOf(trx, account, place)
        if (folder === file.folder_id) return
        await placeFile(trx, file.id, folder)
        await changeFiles(trx, file.folder_id, -1, -file.size)
        await changeFiles(trx, folder, 1, file.size)
        const change = { kind: 'file.moved', file: file.id, place: folder, from: file.folder_id } as const
        await noteChange(trx, account, change)
      })
    },

    async moveMany(account, identifiers, place) {
      await placeOf(db, account, place)
      const results: FileMoveResult[] = []
      for (const file of identifiers) {
        try {
          await files.move(account, file, place)
          results.push({ file, error: null })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          results.push({ file, error: error.code })
        }
        await letOthersIn()
      }
      return results
    },
  }
  return files
}

/** The files of a folder of any size, newest first, never more than one step of them in memory. */
export async function* walkFolder(db: Db, folder: FolderId): AsyncGenerator<FileListRow> {
  let before: FileListRow | null = null
  for (;;) {
    const step: FileListRow[] = await filesBefore(db, folder, before, STEP)
    yield* step
    before = step.at(-1) ?? null
    if (before === null || step.length < STEP) return
  }
}

async function placeWithCount(
  db: Db,
  account: AccountId,
  place: FolderPlace,
): Promise<{ id: FolderId; fileCount: number }> {
  if (place !== 'root') {
    const folder = await ownFolder(db, account, place)
    return { id: folder.id, fileCount: folder.file_count }
  }
  const id = await topFolder(db, account)
  const row = await db
    .selectFrom('folders')
    .select('file_count')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { id, fileCount: row.file_count }
}

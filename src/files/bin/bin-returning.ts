import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import type { AccountId, BinEntryId, FolderId } from '../../domain/ids.ts'
import { updateFolder } from '../folders/folder-changes.rows.ts'
import { changeTree, folderById } from '../folders/folders.rows.ts'
import { type BinEntryRow, dropBinEntry, findBinEntry } from './bin.rows.ts'
import { freeName, placeForFolder } from './bin-places.ts'
import { markedFolders, unmarkFiles, unmarkFolders } from './bin-returning.rows.ts'

/** Rows per transaction: each costs SQLite a good part of a millisecond. */
const STEP = 60
const FOLDERS = 50

export interface FolderReturn {
  /** Unmarks some descendants, or, when none is left, shows the tree. Returns whether steps are left. */
  step(account: AccountId, entry: BinEntryId): Promise<boolean>
}

export function createFolderReturn(db: Database, clock: Clock, maxDepth: number): FolderReturn {
  return {
    step: (account, id) =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        const entry = await findBinEntry(trx, account, id)
        if (entry === undefined || entry.folder_id === null || entry.restoring === 0) return false
        const marked = await markedFolders(trx, id, entry.folder_id, FOLDERS)
        const folders = marked.length > 0 ? marked : [entry.folder_id]
        if ((await unmarkFiles(trx, folders, clock.now(), STEP)) > 0) return true
        if (marked.length > 0) {
          await unmarkFolders(trx, marked)
          return true
        }
        await showFolder(trx, entry, entry.folder_id, maxDepth)
        return false
      }),
  }
}

async function showFolder(trx: Trx, entry: BinEntryRow, id: FolderId, maxDepth: number): Promise<void> {
  const folder = await folderById(trx, id)
  const { parent, isPublic } = await placeForFolder(trx, folder, maxDepth)
  const name = await freeName(trx, parent, folder.name)
  await updateFolder(trx, id, { parent_id: parent, name, ...(isPublic ? {} : { is_public: 0 }) })
  await unmarkFolders(trx, [id])
  const { tree_files: files, tree_bytes: bytes } = folder
  const folders = folder.tree_folders + 1
  await changeTree(trx, parent, { files, bytes, folders, height: folder.tree_height + 1 })
  await changeTotals(trx, entry.account_id, { files, folders })
  await dropBinEntry(trx, entry.id)
  const change = { kind: 'folder.added', folder: folder.identifier, place: parent } as const
  await noteChange(trx, entry.account_id, change)
  await noteChange(trx, entry.account_id, { kind: 'bin' })
}

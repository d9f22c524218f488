import { changeTotals } from '../database/accounts.ts'
import { noteChange } from '../database/changes.ts'
import { lockAccount } from '../database/differences.ts'
import { markRemoved } from '../database/file-removal.ts'
import { findFile } from '../database/files.ts'
import { changeTree, markFolderDeleted, takenAway } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FileIdentifier, FolderIdentifier } from '../domain/ids.ts'
import { ownFolder } from './places.ts'
import { letOthersIn } from './turns.ts'

export interface RemovalCounts {
  readonly processed: number
  readonly deleted: number
  readonly filesDeleted: number
}

/**
 * Deletes by their owner: final, and at once for everybody. What was in a folder is marked, and rows and bytes are
 * cleared, behind that.
 */
export interface Removals {
  /** Unknown and foreign identifiers are processed and not deleted. */
  files(account: AccountId, identifiers: readonly FileIdentifier[]): Promise<RemovalCounts>
  /** With everything below them. A folder inside another one that is deleted first counts as not deleted. */
  folders(account: AccountId, identifiers: readonly FolderIdentifier[]): Promise<RemovalCounts>
}

export function createRemovals(db: Db, clock: Clock): Removals {
  async function deleteFile(account: AccountId, identifier: FileIdentifier): Promise<boolean> {
    if ((await findFile(db, identifier)) === undefined) return false
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      const file = await findFile(trx, identifier)
      if (file === undefined || file.account_id !== account) return false
      await markRemoved(trx, [file], 'deleted', clock.now())
      await noteChange(trx, account, { kind: 'file.removed', file: file.id, place: file.folder_id })
      return true
    })
  }

  /** How many files went with the folder, or null when there is no such folder. */
  async function deleteFolder(account: AccountId, identifier: FolderIdentifier): Promise<number | null> {
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      try {
        const folder = await ownFolder(trx, account, identifier)
        const { tree_files: files, tree_bytes: bytes } = folder
        const folders = folder.tree_folders + 1
        await markFolderDeleted(trx, folder.id, clock.now())
        if (folder.parent_id !== null)
          await changeTree(trx, folder.parent_id, takenAway({ files, bytes, folders }))
        await changeTotals(trx, account, { storage: -bytes, files: -files, folders: -folders })
        const change = { kind: 'folder.removed', folder: identifier, place: folder.parent_id } as const
        await noteChange(trx, account, change)
        return files
      } catch (error) {
        if (error instanceof Refusal) return null
        throw error
      }
    })
  }

  return {
    async files(account, identifiers) {
      let deleted = 0
      for (const identifier of identifiers) {
        if (await deleteFile(account, identifier)) deleted++
        await letOthersIn()
      }
      return { processed: identifiers.length, deleted, filesDeleted: deleted }
    },

    async folders(account, identifiers) {
      let deleted = 0
      let filesDeleted = 0
      for (const identifier of identifiers) {
        const files = await deleteFolder(account, identifier)
        await letOthersIn()
        if (files === null) continue
        deleted++
        filesDeleted += files
      }
      return { processed: identifiers.length, deleted, filesDeleted }
    },
  }
}

import { changeTotals } from '../core/accounts.rows.ts'
import { yieldToEventLoop } from '../core/batches.ts'
import { noteChange } from '../core/changes.rows.ts'
import type { Database } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileIdentifier, FolderIdentifier } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { markRemoved } from './file-removal.rows.ts'
import { findFile } from './files.rows.ts'
import { changeTree, markFolderDeleted, takenAway } from './folders/folders.rows.ts'
import { ownFolder } from './folders/places.ts'
import { eachFileOnce, foldersAround } from './named-together.ts'
import { ownFile } from './own-file.ts'

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
  /** Identifiers that are unknown or out of reach are processed and not deleted; a file with several names counts once. */
  files(reach: Reach, identifiers: readonly FileIdentifier[]): Promise<RemovalCounts>
  /**
   * With everything below them. A folder inside another one goes with it, in whatever order they are named. The one that
   * somebody is kept to is not deleted: it is its parent's.
   */
  folders(reach: Reach, identifiers: readonly FolderIdentifier[]): Promise<RemovalCounts>
}

export function createRemovals(db: Database, clock: Clock): Removals {
  async function deleteFile(reach: Reach, identifier: FileIdentifier): Promise<boolean> {
    if ((await findFile(db, identifier)) === undefined) return false
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, reach.account)
      try {
        const file = await ownFile(trx, reach, identifier)
        await markRemoved(trx, [file], 'deleted', clock.now())
        const change = { kind: 'file.removed', file: file.id, place: file.folder_id } as const
        await noteChange(trx, reach.account, change)
        return true
      } catch (error) {
        if (error instanceof Refusal) return false
        throw error
      }
    })
  }

  /** How many files went with the folder, or null when there is no such folder. */
  async function deleteFolder(reach: Reach, identifier: FolderIdentifier): Promise<number | null> {
    if (identifier === reach.within) return null
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, reach.account)
      try {
        const folder = await ownFolder(trx, reach, identifier)
        const { tree_files: files, tree_bytes: bytes } = folder
        const folders = folder.tree_folders + 1
        await markFolderDeleted(trx, folder.id, clock.now())
        if (folder.parent_id !== null)
          await changeTree(trx, folder.parent_id, takenAway({ files, bytes, folders }))
        await changeTotals(trx, reach.account, { storage: -bytes, files: -files, folders: -folders })
        const change = { kind: 'folder.removed', folder: identifier, place: folder.parent_id } as const
        await noteChange(trx, reach.account, change)
        return files
      } catch (error) {
        if (error instanceof Refusal) return null
        throw error
      }
    })
  }

  return {
    async files(reach, identifiers) {
      const named = await eachFileOnce(db, reach, identifiers)
      let deleted = 0
      for (const identifier of named) {
        if (await deleteFile(reach, identifier)) deleted++
        await yieldToEventLoop()
      }
      return { processed: named.length, deleted, filesDeleted: deleted }
    },

    async folders(reach, identifiers) {
      const around = await foldersAround(db, reach, identifiers)
      const deleted = new Set<FolderIdentifier>()
      let filesDeleted = 0
      for (const identifier of identifiers) {
        const isGone = around.get(identifier)?.some((each) => deleted.has(each)) === true
        const files = isGone ? 0 : await deleteFolder(reach, identifier)
        await yieldToEventLoop()
        if (files === null) continue
        deleted.add(identifier)
        filesDeleted += files
      }
      return { processed: identifiers.length, deleted: deleted.size, filesDeleted }
    },
  }
}

import { noteChange } from '../database/changes.ts'
import { lockAccount } from '../database/differences.ts'
import { changeTree, folderChain, isDeeperThan, takenAway, updateFolder } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type ErrorCode, Refusal } from '../domain/errors.ts'
import type { FolderIdentifier, FolderPlace } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { refusingDuplicates, tooDeep } from './folders.ts'
import { ownFolder, placeOf } from './places.ts'
import { letOthersIn } from './turns.ts'

export interface FolderMoveResult {
  readonly folder: FolderIdentifier
  readonly outcome:
    | { readonly moved: true; readonly foldersUpdated: number }
    | { readonly moved: false; readonly error: ErrorCode }
}

export interface FolderMoves {
  /**
   * Moves the folder with everything inside it; returns how many folders that were, 0 when it was there already.
   * Throws Refusal FOLDER_NOT_FOUND, INVALID_DESTINATION, DUPLICATE_NAME or MAX_DEPTH_EXCEEDED.
   */
  move(reach: Reach, folder: FolderIdentifier, parent: FolderPlace): Promise<number>
  /** Each by itself, in the order asked. Throws Refusal FOLDER_NOT_FOUND when the destination is unknown. */
  moveMany(
    reach: Reach,
    folders: readonly FolderIdentifier[],
    parent: FolderPlace,
  ): Promise<FolderMoveResult[]>
}

export function createFolderMoves(db: Db, maxDepth: number): FolderMoves {
  const moves: FolderMoves = {
    async move(reach, identifier, parent) {
      return inTransaction(db, async (trx) => {
        await lockAccount(trx, reach.account)
        const folder = await ownFolder(trx, reach, identifier)
        const destination = await placeOf(trx, reach, parent)
        if (folder.parent_id === destination) return 0
        const way = await folderChain(trx, destination)
        if (way.some((step) => step.id === folder.id)) {
          throw new Refusal('INVALID_DESTINATION', 'A folder cannot be moved into itself or below itself')
        }
        const levelsLeft = maxDepth - way.length
        // No tree is higher than its folder knows, so most need not be walked.
        if (folder.tree_height + 1 > levelsLeft && (await isDeeperThan(trx, folder.id, levelsLeft))) {
          throw tooDeep(maxDepth)
        }
        await refusingDuplicates(folder.name, () => updateFolder(trx, folder.id, { parent_id: destination }))
        const moved = {
          files: folder.tree_files,
          bytes: folder.tree_bytes,
          folders: folder.tree_folders + 1,
          height: folder.tree_height + 1,
        }
        if (folder.parent_id !== null) await changeTree(trx, folder.parent_id, takenAway(moved))
        await changeTree(trx, destination, moved)
        await noteChange(trx, reach.account, {
          kind: 'folder.moved',
          folder: identifier,
          place: destination,
          from: folder.parent_id,
        })
        return moved.folders
      })
    },

    async moveMany(reach, folders, parent) {
      await placeOf(db, reach, parent)
      const results: FolderMoveResult[] = []
      for (const folder of folders) {
        try {
          const foldersUpdated = await moves.move(reach, folder, parent)
          results.push({ folder, outcome: { moved: true, foldersUpdated } })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          results.push({ folder, outcome: { moved: false, error: error.code } })
        }
        await letOthersIn()
      }
      return results
    },
  }
  return moves
}

import { noteChange } from '../../core/changes.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Actor } from '../../domain/access.ts'
import { type Clock, yieldToEventLoop } from '../../domain/clock.ts'
import { type ErrorCode, Refusal } from '../../domain/errors.ts'
import type { FolderIdentifier, FolderPlace } from '../../domain/ids.ts'
import { assertMayPlace } from './exposure.ts'
import { updateFolder } from './folder-changes.rows.ts'
import { changeTree, folderChain, isDeeperThan, takenAway } from './folders.rows.ts'
import { ownFolder, resolvePlace } from './places.ts'

export interface FolderMove {
  readonly folder: FolderIdentifier
  readonly parent: FolderPlace
  readonly maxDepth: number
  readonly now: number
  /** Changed at once: the name must be free in the new place, not in the old one. */
  readonly change: Omit<Parameters<typeof updateFolder>[2], 'parent_id'>
}

/**
 * Call under the account's lock. Returns the number of moved folders, 0 when nothing changed. Throws Refusal
 * FOLDER_NOT_FOUND, INVALID_DESTINATION, DUPLICATE_NAME, MAX_DEPTH_EXCEEDED or SCOPE_MISSING.
 */
export async function moveFolder(trx: Trx, reach: Actor, move: FolderMove): Promise<number> {
  const { maxDepth, now, change } = move
  const folder = await ownFolder(trx, reach, move.folder)
  const destination = await resolvePlace(trx, reach, move.parent)
  if (folder.parent_id === destination) return 0
  if (folder.parent_id !== null)
    await assertMayPlace(trx, reach, { from: folder.parent_id, to: destination, now })
  const way = await folderChain(trx, destination)
  if (way.some((step) => step.id === folder.id)) {
    throw new Refusal('INVALID_DESTINATION', 'A folder cannot be moved into itself or below itself')
  }
  const levelsLeft = maxDepth - way.length
  // `tree_height` is an upper bound, so most trees need not be walked.
  if (folder.tree_height + 1 > levelsLeft && (await isDeeperThan(trx, folder.id, levelsLeft))) {
    throw tooDeep(maxDepth)
  }
  await refusingDuplicates(change.name ?? folder.name, () =>
    updateFolder(trx, folder.id, { ...change, parent_id: destination }),
  )
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
    folder: move.folder,
    place: destination,
    from: folder.parent_id,
  })
  return moved.folders
}

/** Throws Refusal DUPLICATE_NAME. */
export async function refusingDuplicates<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Refusal('DUPLICATE_NAME', `A folder named "${name}" already exists there; choose another name`)
  }
}

export function tooDeep(maxDepth: number): Refusal {
  return new Refusal('MAX_DEPTH_EXCEEDED', `Folders may be nested ${maxDepth} levels deep at most`)
}

type FolderMoveResult =
  | { readonly moved: true; readonly foldersUpdated: number }
  | { readonly moved: false; readonly error: ErrorCode }

export interface FolderMoves {
  /** Returns the number of moved folders, 0 when nothing changed. Throws Refusal as `moveFolder` does. */
  move(reach: Actor, folder: FolderIdentifier, parent: FolderPlace): Promise<number>
  /** Each by itself, in order. Throws Refusal FOLDER_NOT_FOUND when the destination is unknown. */
  moveMany(
    reach: Actor,
    folders: readonly FolderIdentifier[],
    parent: FolderPlace,
  ): Promise<FolderMoveResult[]>
}

export function createFolderMoves(db: Database, clock: Clock, maxDepth: number): FolderMoves {
  const moves: FolderMoves = {
    async move(reach, identifier, parent) {
      return inTransaction(db, async (trx) => {
        await lockAccount(trx, reach.account)
        return moveFolder(trx, reach, { folder: identifier, parent, maxDepth, now: clock.now(), change: {} })
      })
    },

    async moveMany(reach, folders, parent) {
      await resolvePlace(db, reach, parent)
      const results: FolderMoveResult[] = []
      for (const folder of folders) {
        try {
          results.push({ moved: true, foldersUpdated: await moves.move(reach, folder, parent) })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          results.push({ moved: false, error: error.code })
        }
        await yieldToEventLoop()
      }
      return results
    },
  }
  return moves
}

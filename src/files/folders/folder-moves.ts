import { yieldToEventLoop } from '../../core/yielding.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import { type ErrorCode, Refusal } from '../../domain/errors.ts'
import type { FolderIdentifier, FolderPlace } from '../../domain/ids.ts'
import type { Actor } from '../../domain/reach.ts'
import { moveFolder } from './folder-moving.ts'
import { resolvePlace } from './places.ts'

export type FolderMoveResult =
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

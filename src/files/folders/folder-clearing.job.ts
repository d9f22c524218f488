import { withPause } from '../../core/yielding.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import { foldersToClear, isAnyToClear, markChildren, markCleared, markFiles } from './folder-clearing.rows.ts'

/**
 * Marks what was below deleted folders, and below those in the bin, in steps: a tree of any size goes at once and is
 * cleared behind that.
 */
export interface FolderClearing {
  /** Until nothing is left to mark, or `mayGoOn` says no. */
  run(mayGoOn?: () => boolean): Promise<void>
  /** Whether there are marks left to make. */
  hasWork(): Promise<boolean>
}

/** Rows that one transaction marks: at a million files each of them costs SQLite a good part of a millisecond. */
const STEP = 60
/** Folders that one transaction looks into. */
const FOLDERS = 50

export function createFolderClearing(db: Database, clock: Clock): FolderClearing {
  /** Whether there was something to do. */
  async function step(): Promise<boolean> {
    const found = await foldersToClear(db, 1)
    if (found === null) return false
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, found.account)
      // Until the account was locked, what was in the bin could come back, or be deleted for good.
      const present = await foldersToClear(trx, FOLDERS, found.account)
      if (present === null) return
      const now = clock.now()
      const children = await markChildren(trx, present, now, STEP)
      const files = await markFiles(trx, present, now, STEP - Math.min(children, STEP - 1))
      if (children === 0 && files === 0) await markCleared(trx, present.folders, now)
    })
    return true
  }

  return {
    hasWork: () => isAnyToClear(db),

    async run(mayGoOn = () => true) {
      while (mayGoOn() && (await withPause(clock.timers, step)));
    },
  }
}

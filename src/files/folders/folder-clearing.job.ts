import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, withPause } from '../../domain/clock.ts'
import { foldersToClear, isAnyToClear, markChildren, markCleared, markFiles } from './folder-clearing.rows.ts'

/** A tree of any size vanishes at once and is cleared later, in steps. */
export interface FolderClearing {
  run(mayGoOn?: () => boolean): Promise<void>
  hasWork(): Promise<boolean>
}

/** Rows per transaction: at a million files each costs SQLite a good part of a millisecond. */
const STEP = 60
const FOLDERS = 50

export function createFolderClearing(db: Database, clock: Clock): FolderClearing {
  async function step(): Promise<boolean> {
    const found = await foldersToClear(db, 1)
    if (found === null) return false
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, found.account)
      // Before the lock, binned folders may have been restored or deleted for good.
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

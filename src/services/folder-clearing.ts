import { lockAccount } from '../database/differences.ts'
import { markFilesDeleted } from '../database/file-removal.ts'
import { foldersToClear, markChildrenDeleted, markCleared } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { unhurried } from './turns.ts'

/** Marks what was below deleted folders, in steps: a tree of any size is deleted at once and cleared behind that. */
export interface FolderClearing {
  /** Until nothing is left to mark, or `mayGoOn` says no. */
  run(mayGoOn?: () => boolean): Promise<void>
}

/** Rows that one transaction marks: at a million files each of them costs SQLite a good part of a millisecond. */
const STEP = 60
/** Folders that one transaction looks into. */
const FOLDERS = 50

export function createFolderClearing(db: Db, clock: Clock): FolderClearing {
  /** Whether there was something to do. */
  async function step(): Promise<boolean> {
    const found = await foldersToClear(db, FOLDERS)
    if (found === null) return false
    const { account, folders } = found
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      const now = clock.now()
      const children = await markChildrenDeleted(trx, folders, now, STEP)
      const files = await markFilesDeleted(trx, folders, now, STEP - Math.min(children, STEP - 1))
      if (children === 0 && files === 0) await markCleared(trx, folders, now)
    })
    return true
  }

  return {
    async run(mayGoOn = () => true) {
      while (mayGoOn() && (await unhurried(clock, step)));
    },
  }
}

import type { Database } from '../database/database.ts'
import { ageChanges, dropForgotten } from './changes.rows.ts'
import { yieldToEventLoop } from './yielding.ts'

/** Retention of the change log that event streams read. */
export interface Changes {
  /** Deletes changes that were present at the previous call already. */
  forgetOld(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 500

export function createChanges(db: Database): Changes {
  return {
    async forgetOld(mayGoOn = () => true) {
      await ageChanges(db)
      while (mayGoOn() && (await dropForgotten(db, STEP)) === STEP) await yieldToEventLoop()
    },
  }
}

import type { Database } from '../database/database.ts'
import { ageChanges, dropForgotten } from './changes.rows.ts'
import { yieldToEventLoop } from './yielding.ts'

export interface Changes {
  /** Deletes changes that existed at the previous call. */
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

import { ageChanges, dropForgotten } from '../database/changes.ts'
import type { Db } from '../database/schema.ts'
import { letOthersIn } from './turns.ts'

/** What has changed in accounts, for as long as somebody may ask. */
export interface Changes {
  /** Forgets what was there already when this was called the last time. */
  forgetOld(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 500

export function createChanges(db: Db): Changes {
  return {
    async forgetOld(mayGoOn = () => true) {
      await ageChanges(db)
      while (mayGoOn() && (await dropForgotten(db, STEP)) === STEP) await letOthersIn()
    },
  }
}

import {
  countLiveFiles,
  expiredForGood,
  markAlive,
  markRemoved,
  unusedFiles,
  wronglyExpired,
} from '../database/file-removal.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { type Cleaning, letOthersIn } from './cleaning.ts'
import type { ClockGuard } from './clock-guard.ts'
import type { Usage } from './usage.ts'

/**
 * Files that nobody looks at go away, in two steps: a mark hides them at once and can be taken back; rows and
 * bytes follow a day later, never all at once, and only while the clock can be believed.
 */
export interface Expiry {
  /** Hides what is due, brings back what a wrong clock had hidden. */
  mark(): Promise<void>
  /** Removes for good what was hidden at least a day ago: per call 1,000 files or 1 %, whichever is more. */
  purge(): Promise<void>
}

const STEP = 100
const PURGE_AFTER = DAY
const PURGE_AT_LEAST = 1000

export function createExpiry(
  db: Db,
  cleaning: Cleaning,
  usage: Usage,
  clock: Clock,
  guard: ClockGuard,
  inactiveDays: number,
): Expiry {
  const cutoff = () => clock.now() - inactiveDays * DAY

  return {
    async mark() {
      guard.agreedFor()
      // What was looked at in the last second counts, though it is not written yet.
      await usage.flush()
      for (;;) {
        const marked = await db.transaction().execute(async (trx) => {
          const files = await unusedFiles(trx, cutoff(), STEP)
          if (files.length > 0) await markRemoved(trx, files, 'expired', clock.now())
          return files.length
        })
        if (marked < STEP) break
        await letOthersIn()
      }
      for (;;) {
        const restored = await db.transaction().execute(async (trx) => {
          const files = await wronglyExpired(trx, cutoff(), STEP)
          if (files.length > 0) await markAlive(trx, files)
          return files.length
        })
        if (restored < STEP) break
        await letOthersIn()
      }
    },

    async purge() {
      if (guard.agreedFor() < PURGE_AFTER) return
      const most = Math.max(PURGE_AT_LEAST, Math.floor((await countLiveFiles(db)) / 100))
      await cleaning.purge(await expiredForGood(db, clock.now() - PURGE_AFTER, cutoff(), most))
    },
  }
}

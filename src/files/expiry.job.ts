import { noteChange } from '../core/changes.rows.ts'
import type { ClockGuard } from '../core/clock-guard.ts'
import type { Lifetime, Outages } from '../core/outages.ts'
import { yieldToEventLoop } from '../core/yielding.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { FileId } from '../domain/ids.ts'
import type { Cleaning } from './blob-cleaning.job.ts'
import {
  countLiveFiles,
  expiredForGood,
  markAlive,
  markExpired,
  type RemovableFile,
  unusedFiles,
  wronglyExpired,
} from './file-removal.rows.ts'
import type { Usage } from './use-counters.ts'

/**
 * Files that nobody looks at go away, in two steps: a mark hides them at once and can be taken back; rows and
 * bytes follow a day later, never all at once, and only while the clock can be believed.
 */
export interface Expiry {
  /** Hides what is due, brings back what a wrong clock had hidden. */
  mark(mayGoOn?: () => boolean): Promise<void>
  /** Removes for good what was hidden at least a day ago: per call 1,000 files or 1 %, whichever is more. */
  purge(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 100
const always = () => true
const PURGE_AFTER = DAY
const PURGE_AT_LEAST = 1000

export function createExpiry(parts: {
  db: Database
  cleaning: Cleaning
  usage: Usage
  clock: Clock
  guard: ClockGuard
  outages: Pick<Outages, 'settle'>
  lifetime: Lifetime
}): Expiry {
  const { db, cleaning, usage, clock, guard, outages } = parts
  const { cutoff } = parts.lifetime

  return {
    async mark(mayGoOn = always) {
      guard.agreedFor()
      // What was looked at in the last second counts, though it is not written yet.
      await usage.flush()
      // A leap of the clock is noted, told and added to every file's time before it can hide one.
      const unusedSince = cutoff(await outages.settle())
      while (mayGoOn()) {
        const marked = await inTransaction(db, async (trx) => {
          const files = await lockedFiles(trx, await unusedFiles(trx, unusedSince, STEP), (ids) =>
            unusedFiles(trx, unusedSince, STEP, ids),
          )
          await markExpired(trx, files, clock.now())
          await noteAll(trx, 'file.removed', files)
          return files.length
        })
        if (marked < STEP) break
        await yieldToEventLoop()
      }
      while (mayGoOn()) {
        const restored = await inTransaction(db, async (trx) => {
          const files = await lockedFiles(trx, await wronglyExpired(trx, unusedSince, STEP), (ids) =>
            wronglyExpired(trx, unusedSince, STEP, ids),
          )
          const alive = await markAlive(trx, files)
          await noteAll(trx, 'file.added', alive)
          return alive.length
        })
        if (restored < STEP) break
        await yieldToEventLoop()
      }
    },

    async purge(mayGoOn = always) {
      if (guard.agreedFor() < PURGE_AFTER) return
      const now = await outages.settle()
      const markedBefore = now - PURGE_AFTER
      const unusedSince = cutoff(now)
      const most = Math.max(PURGE_AT_LEAST, Math.floor((await countLiveFiles(db)) / 100))
      await cleaning.purge(await expiredForGood(db, markedBefore, unusedSince, most), mayGoOn)
    },
  }
}

async function noteAll(
  trx: Trx,
  kind: 'file.added' | 'file.removed',
  files: readonly RemovableFile[],
): Promise<void> {
  for (const { id, account_id, folder_id } of files) {
    await noteChange(trx, account_id, { kind, file: id, place: folder_id })
  }
}

/**
 * Locks the accounts whose files these are, then asks again which of the files it still is true of. One that was given to
 * another account meanwhile has to wait for the next run.
 */
async function lockedFiles(
  trx: Trx,
  files: readonly RemovableFile[],
  again: (ids: readonly FileId[]) => Promise<RemovableFile[]>,
): Promise<RemovableFile[]> {
  if (files.length === 0) return []
  const accounts = new Set(files.map((file) => file.account_id))
  for (const account of [...accounts].sort((a, b) => a - b)) await lockAccount(trx, account)
  return (await again(files.map((file) => file.id))).filter((file) => accounts.has(file.account_id))
}

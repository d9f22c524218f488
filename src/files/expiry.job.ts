import { noteChange } from '../core/changes.rows.ts'
import type { ClockGuard } from '../core/core.ts'
import type { Lifetime, Outages } from '../core/outages.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, yieldToEventLoop } from '../domain/clock.ts'
import type { AccountId, FileId } from '../domain/ids.ts'
import type { Cleaning } from './blob-cleaning.job.ts'
import {
  type AccountGroup,
  accountsToSearch,
  countLiveFiles,
  type ExpiredFile,
  expiredFiles,
  expiredHolders,
  markAlive,
  markExpired,
  ownInactiveDays,
  type RemovableFile,
  setUnusedSince,
  unusedFiles,
  wronglyExpired,
} from './file-removal.rows.ts'
import type { Inactivity } from './inactivity.ts'
import type { Usage } from './use-counters.ts'

/** A mark hides unused files at once, reversibly; deletion follows a day later, and only by a trustworthy clock. */
export interface Expiry {
  /** Hides what is due, and restores what a wrong clock had hidden. */
  mark(mayGoOn?: () => boolean): Promise<void>
  /** Deletes files hidden at least a day ago: per call 1,000 or 1 %, whichever is more. */
  purge(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 100
const always = () => true
const PURGE_AFTER = DAY
const PURGE_AT_LEAST = 1000
/** Least age of an account's mark. Clocks of nodes differ by less, and uploads commit sooner. */
const LATEST_MARK = HOUR

export function createExpiry(parts: {
  db: Database
  cleaning: Cleaning
  usage: Usage
  clock: Clock
  guard: ClockGuard
  outages: Pick<Outages, 'settle'>
  inactivity: Inactivity
}): Expiry {
  const { db, cleaning, usage, clock, guard, outages, inactivity } = parts

  /** No use precedes 1970, so a cutoff of 0 matches no file. */
  const endsBefore = (lifetime: Lifetime | null, at: number) => lifetime?.cutoff(at) ?? 0

  /** Searches only accounts that may have such files, so files that never expire cost nothing. */
  async function hideUnused(at: number, mayGoOn: () => boolean): Promise<void> {
    const groups: readonly (readonly [AccountGroup, Lifetime | null])[] = [
      ['guests', inactivity.guests],
      ...[null, ...(await ownInactiveDays(db))].map((days) => [days, inactivity.accounts(days)] as const),
    ]
    for (const [group, lifetime] of groups) {
      if (lifetime === null) continue
      const cutoff = lifetime.cutoff(at)
      while (mayGoOn()) {
        const accounts = await accountsToSearch(db, group, { cutoff, latest: at - LATEST_MARK }, STEP)
        if (accounts.length === 0) break
        const isDone = await inTransaction(db, (trx) => hideStep(trx, accounts, cutoff, at))
        if (!isDone) return
        await yieldToEventLoop()
      }
    }
  }

  /** Returns false, and changes nothing, once the clock was set back: what came since would seem to have ended before `at`. */
  async function hideStep(
    trx: Trx,
    accounts: readonly AccountId[],
    cutoff: number,
    at: number,
  ): Promise<boolean> {
    for (const account of accounts.toSorted((a, b) => a - b)) await lockAccount(trx, account)
    const found = await unusedFiles(trx, accounts, cutoff, STEP)
    if (found.length > 0) {
      // Locked in id order, as counters write them.
      const ids = found.map((file) => file.id)
      const files = await unusedFiles(trx, accounts, cutoff, STEP, ids)
      if (clock.now() < at) return false
      await markExpired(trx, files, clock.now())
      await noteAll(trx, 'file.removed', files)
    }
    if (clock.now() < at) return false
    if (found.length < STEP) await setUnusedSince(trx, accounts, at - LATEST_MARK)
    return true
  }

  async function bringBack(at: number, mayGoOn: () => boolean): Promise<void> {
    for (const holder of await expiredHolders(db)) {
      const cutoff = endsBefore(inactivity.of(holder), at)
      if (holder.latest < cutoff) continue
      while (mayGoOn()) {
        const restored = await inTransaction(db, (trx) => restoreStep(trx, holder.account_id, cutoff))
        if (restored < STEP) break
        await yieldToEventLoop()
      }
    }
  }

  async function restoreStep(trx: Trx, account: AccountId, cutoff: number): Promise<number> {
    await lockAccount(trx, account)
    const found = await wronglyExpired(trx, account, cutoff, STEP)
    if (found.length === 0) return 0
    const ids = found.map((file) => file.id)
    const alive = await markAlive(trx, await wronglyExpired(trx, account, cutoff, STEP, ids))
    await noteAll(trx, 'file.added', alive)
    return alive.length
  }

  return {
    async mark(mayGoOn = always) {
      guard.agreedFor()
      // Includes uses not written yet.
      await usage.flush()
      // A leap of the clock is recorded, and added to every file's time, before it can hide one.
      const at = await outages.settle()
      await hideUnused(at, mayGoOn)
      await bringBack(at, mayGoOn)
    },

    async purge(mayGoOn = always) {
      if (guard.agreedFor() < PURGE_AFTER) return
      const now = await outages.settle()
      const markedBefore = now - PURGE_AFTER
      const most = Math.max(PURGE_AT_LEAST, Math.floor((await countLiveFiles(db)) / 100))
      const files: FileId[] = []
      let last: ExpiredFile | null = null
      while (files.length < most) {
        const page: ExpiredFile[] = await expiredFiles(db, markedBefore, last, PURGE_AT_LEAST)
        const ended = page.filter((file) => file.last_used_at < endsBefore(inactivity.of(file), now))
        files.push(...ended.slice(0, most - files.length).map(({ id }) => id))
        last = page.at(-1) ?? null
        if (page.length < PURGE_AT_LEAST) break
        await yieldToEventLoop()
      }
      await cleaning.purge(files, mayGoOn)
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

import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { ClockGuard } from '../../core/clock-guard.ts'
import type { Lifetime, Outages } from '../../core/outages.ts'
import { withPause } from '../../core/yielding.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BinEntryId } from '../../domain/ids.ts'
import type { Reach } from '../../domain/reach.ts'
import { type BinEntryRow, countBin, dropBinEntry } from './bin.rows.ts'
import { type BinOutcome, forEachSeparately } from './bin.ts'
import {
  accountToEmpty,
  emptiedEntries,
  emptyBin,
  markEntryDeleted,
  oldEntries,
  setEmptied,
} from './bin-emptying.rows.ts'
import { entryNotFound, ownEntry } from './own-entry.ts'

/** Deletes for good what is in the bin. Rows and bytes follow in the background. */
export interface BinEmptying {
  /** Each by itself, in the order asked. What is coming back already is not in the bin. */
  remove(reach: Reach, entries: readonly BinEntryId[]): Promise<BinOutcome[]>
  /**
   * All that is in the bin, however much; returns what that was. Throws Refusal INVALID_REQUEST for somebody who is kept to
   * a folder: the bin goes as a whole.
   */
  empty(reach: Reach): Promise<{ readonly bytes: number; readonly entries: number }>
  /** Goes on with bins that were emptied, and removes what has been in one for too long. */
  run(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 50

/** By a wrong clock everything is old: what is deleted for good waits until the clock can be believed. */
const SURE_AFTER = DAY

export function createBinEmptying(parts: {
  db: Database
  clock: Clock
  guard: ClockGuard
  outages: Pick<Outages, 'settle'>
  lifetime: Lifetime
}): BinEmptying {
  const { db, clock, guard, outages, lifetime } = parts

  /** Throws Refusal NOT_FOUND when the entry is not in the bin any more. */
  function removeEntry(reach: Reach, id: BinEntryId): Promise<void> {
    return inTransaction(db, async (trx) => {
      const { account } = reach
      await lockAccount(trx, account)
      const entry = await ownEntry(trx, reach, id)
      if (entry.restoring === 1) throw entryNotFound()
      await drop(trx, entry)
      await countBin(trx, account, -entry.bytes, -1)
      await changeTotals(trx, account, { storage: -entry.bytes })
      await noteChange(trx, account, { kind: 'bin' })
    })
  }

  async function drop(trx: Trx, entry: BinEntryRow): Promise<void> {
    await markEntryDeleted(trx, entry, clock.now())
    await dropBinEntry(trx, entry.id)
  }

  /** Whether there was something to do. What was emptied has left the totals. */
  async function emptyStep(): Promise<boolean> {
    const account = await accountToEmpty(db)
    if (account === undefined) return false
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      const entries = await emptiedEntries(trx, account, STEP)
      for (const entry of entries) await drop(trx, entry)
      if (entries.length < STEP) await setEmptied(trx, account)
    })
    return true
  }

  /** Says whether it was there: until now it could come back, or be deleted by its owner. */
  async function removeOldEntry(reach: Reach, id: BinEntryId): Promise<boolean> {
    try {
      await removeEntry(reach, id)
      return true
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  async function removeOld(binnedBefore: number, mayGoOn: () => boolean): Promise<void> {
    while (mayGoOn()) {
      const entries = await oldEntries(db, binnedBefore, STEP)
      for (const { account_id, id } of entries) {
        if (mayGoOn())
          await withPause(clock.timers, () => removeOldEntry({ account: account_id, within: null }, id))
      }
      if (entries.length < STEP) return
    }
  }

  return {
    remove: (reach, entries) =>
      forEachSeparately(entries, async (entry) => {
        await removeEntry(reach, entry)
        return entry
      }),

    async empty({ account, within }) {
      if (within !== null) {
        const message =
          'This key is good for one folder and cannot empty the bin; delete entries by their numbers'
        throw new Refusal('INVALID_REQUEST', message)
      }
      return inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        await noteChange(trx, account, { kind: 'bin' })
        return emptyBin(trx, account)
      })
    },

    async run(mayGoOn = () => true) {
      while (mayGoOn() && (await withPause(clock.timers, emptyStep)));
      if (guard.agreedFor() < SURE_AFTER) return
      await removeOld(lifetime.cutoff(await outages.settle()), mayGoOn)
    },
  }
}

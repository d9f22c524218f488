import { changeTotals } from '../database/accounts.ts'
import { type BinEntryRow, countBin, dropBinEntry, findBinEntry } from '../database/bin.ts'
import {
  accountToEmpty,
  emptiedEntries,
  emptyBin,
  markEntryDeleted,
  oldEntries,
  setEmptied,
} from '../database/bin-emptying.ts'
import { noteChange } from '../database/changes.ts'
import { lockAccount } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { AccountId, BinEntryId } from '../domain/ids.ts'
import { type BinOutcome, eachByItself } from './bin.ts'
import { entryNotFound } from './bin-restoring.ts'
import type { ClockGuard } from './clock-guard.ts'
import { unhurried } from './turns.ts'

/** Deletes for good what is in the bin. Rows and bytes follow in the background. */
export interface BinEmptying {
  /** Each by itself, in the order asked. What is coming back already is not in the bin. */
  remove(account: AccountId, entries: readonly BinEntryId[]): Promise<BinOutcome[]>
  /** All that is in the bin, however much; returns what that was. */
  empty(account: AccountId): Promise<{ readonly bytes: number; readonly entries: number }>
  /** Goes on with bins that were emptied, and removes what has been in one for too long. */
  run(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 50

/** By a wrong clock everything is old: what is deleted for good waits until the clock can be believed. */
const SURE_AFTER = DAY

export function createBinEmptying(db: Db, clock: Clock, guard: ClockGuard, binDays: number): BinEmptying {
  /** False when the entry is not in the bin any more. */
  function removeEntry(account: AccountId, id: BinEntryId): Promise<boolean> {
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      const entry = await findBinEntry(trx, account, id)
      if (entry === undefined || entry.restoring === 1) return false
      await drop(trx, entry)
      await countBin(trx, account, -entry.bytes, -1)
      await changeTotals(trx, account, { storage: -entry.bytes })
      await noteChange(trx, account, { kind: 'bin' })
      return true
    })
  }

  async function drop(trx: Db, entry: BinEntryRow): Promise<void> {
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

  async function removeOld(mayGoOn: () => boolean): Promise<void> {
    while (mayGoOn()) {
      const entries = await oldEntries(db, clock.now() - binDays * DAY, STEP)
      for (const { account_id, id } of entries) {
        if (mayGoOn()) await unhurried(clock, () => removeEntry(account_id, id))
      }
      if (entries.length < STEP) return
    }
  }

  return {
    remove: (account, entries) =>
      eachByItself(entries, async (entry) => {
        if (!(await removeEntry(account, entry))) throw entryNotFound()
        return entry
      }),

    empty: (account) =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        await noteChange(trx, account, { kind: 'bin' })
        return emptyBin(trx, account)
      }),

    async run(mayGoOn = () => true) {
      while (mayGoOn() && (await unhurried(clock, emptyStep)));
      if (guard.agreedFor() >= SURE_AFTER) await removeOld(mayGoOn)
    },
  }
}

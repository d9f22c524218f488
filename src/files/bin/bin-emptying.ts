import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { ClockGuard } from '../../core/core.ts'
import type { Lifetime, Outages } from '../../core/outages.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Reach } from '../../domain/access.ts'
import { type Clock, DAY, withPause } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BinEntryId } from '../../domain/ids.ts'
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

/** Rows and bytes follow in the background. */
export interface BinEmptying {
  /** Each by itself, in order. An entry being restored is not found. */
  remove(reach: Reach, entries: readonly BinEntryId[]): Promise<BinOutcome[]>
  /** Works for any size. Throws Refusal INVALID_REQUEST for a caller confined to a folder. */
  empty(reach: Reach): Promise<{ readonly bytes: number; readonly entries: number }>
  run(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 50

/** A wrong clock makes everything look old: wait until it is trustworthy. */
const SURE_AFTER = DAY

export function createBinEmptying(parts: {
  db: Database
  clock: Clock
  guard: ClockGuard
  outages: Pick<Outages, 'settle'>
  lifetime: Lifetime
}): BinEmptying {
  const { db, clock, guard, outages, lifetime } = parts

  /** Throws Refusal NOT_FOUND. */
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

import { sql } from 'kysely'
import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { ClockGuard, Core } from '../../core/core.ts'
import type { Lifetime, Outages } from '../../core/outages.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Reach } from '../../domain/access.ts'
import { DAY, withPause } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId, BinEntryId } from '../../domain/ids.ts'
import { eachByItself } from '../batches.ts'
import { type BinEntryRow, countBin, dropBinEntry, keptEntries } from './bin.rows.ts'
import { entryNotFound, ownEntry } from './bin.ts'

const STEP = 50

/** A wrong clock makes everything look old: wait until it is trustworthy. */
const SURE_AFTER = DAY

/** Rows and bytes follow in the background. */
export function createBinEmptying(
  {
    db,
    clock,
    guard,
    outages,
  }: Pick<Core, 'db' | 'clock'> & { guard: ClockGuard; outages: Pick<Outages, 'settle'> },
  lifetime: Lifetime,
) {
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
    /** Each by itself, in order. An entry being restored is not found. */
    remove: (reach: Reach, entries: readonly BinEntryId[]) =>
      eachByItself(entries, (entry) => removeEntry(reach, entry)),

    /** Works for any size. Throws Refusal INVALID_REQUEST for a caller confined to a folder. */
    async empty({ account, within }: Reach) {
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

    async run(mayGoOn: () => boolean = () => true): Promise<void> {
      while (mayGoOn() && (await withPause(clock.timers, emptyStep)));
      if (guard.agreedFor() < SURE_AFTER) return
      await removeOld(lifetime.cutoff(await outages.settle()), mayGoOn)
    },
  }
}

/** Spares entries being restored. */
export async function emptyBin(trx: Trx, account: AccountId): Promise<{ bytes: number; entries: number }> {
  const { bin_bytes: bytes, bin_entries: entries } = await trx
    .selectFrom('accounts')
    .select(['bin_bytes', 'bin_entries'])
    .where('id', '=', account)
    .executeTakeFirstOrThrow()
  const last = trx
    .selectFrom('bin')
    .select((row) => row.fn.max('bin.id').as('last'))
    .where('account_id', '=', account)
  const { last: emptied } = await last.executeTakeFirstOrThrow()
  if (emptied !== null) {
    await trx
      .updateTable('accounts')
      .set((account) => ({
        bin_emptied: emptied,
        bin_bytes: 0,
        bin_entries: 0,
        storage_used: account('storage_used', '-', bytes),
      }))
      .where('id', '=', account)
      .execute()
  }
  return { bytes, entries }
}

export async function accountToEmpty(db: Database): Promise<AccountId | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select('id')
    .where('bin_emptied', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

export function emptiedEntries(trx: Trx, account: AccountId, limit: number): Promise<BinEntryRow[]> {
  return trx
    .selectFrom('bin')
    .innerJoin('accounts', 'accounts.id', 'bin.account_id')
    .selectAll('bin')
    .where('bin.account_id', '=', account)
    .where('bin.restoring', '=', 0)
    .whereRef('bin.id', '<=', 'accounts.bin_emptied')
    .orderBy('bin.id')
    .limit(limit)
    .execute()
}

export async function setEmptied(trx: Trx, account: AccountId): Promise<void> {
  await trx.updateTable('accounts').set({ bin_emptied: null }).where('id', '=', account).execute()
}

/** Oldest first, from no later than `before`; none being restored. */
export function oldEntries(db: Database, before: number, limit: number): Promise<BinEntryRow[]> {
  return keptEntries(db)
    .selectAll('bin')
    .where('bin.restoring', '=', sql.lit(0))
    .where('bin.binned_at', '<=', before)
    .orderBy('bin.binned_at')
    .limit(limit)
    .execute()
}

export async function markEntryDeleted(
  trx: Trx,
  { file_id, folder_id }: BinEntryRow,
  at: number,
): Promise<void> {
  if (file_id !== null) {
    await trx
      .updateTable('files')
      .set({ removed_at: at, removal: 'deleted' })
      .where('id', '=', file_id)
      .execute()
  }
  if (folder_id !== null) {
    // Re-mark descendants as deleted instead of binned.
    await trx
      .updateTable('folders')
      .set({ bin_id: null, cleared_at: null })
      .where('id', '=', folder_id)
      .execute()
  }
}

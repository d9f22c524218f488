import { sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import type { AccountId } from '../../domain/ids.ts'
import { type BinEntryRow, keptEntries } from './bin.rows.ts'

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

/** Unmarks descendants of restored folders bottom-up, some rows at a time. */
import { sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import { greatest } from '../../database/differences.ts'
import { prepared } from '../../database/prepared.ts'
import type { AccountId, BinEntryId, FolderId } from '../../domain/ids.ts'
import type { BinEntryRow } from './bin.rows.ts'

/** From now on nothing below the folder is marked any more. */
export async function beginReturn(trx: Trx, entry: BinEntryRow, folder: FolderId): Promise<void> {
  await trx.updateTable('bin').set({ restoring: 1 }).where('id', '=', entry.id).execute()
  // Lists leave out its descendants until the folder itself is back.
  await trx.updateTable('folders').set({ cleared_at: null }).where('id', '=', folder).execute()
}

export async function giveUpReturns(trx: Trx, account: AccountId): Promise<void> {
  await trx.updateTable('bin').set({ restoring: 0 }).where('account_id', '=', account).execute()
}

export async function returningEntry(db: Database): Promise<BinEntryRow | undefined> {
  return (await returning(db))[0]
}

const returning = prepared((db) =>
  db.selectFrom('bin').selectAll().where('restoring', '=', sql.lit(1)).limit(sql.lit(1)),
)

/** At most `limit`. */
export async function markedFolders(
  trx: Trx,
  entry: BinEntryId,
  own: FolderId,
  limit: number,
): Promise<FolderId[]> {
  const rows = await trx
    .selectFrom('folders')
    .select('id')
    .where('bin_id', '=', entry)
    .where('id', '!=', own)
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** At most `limit`; returns how many. */
export async function unmarkFiles(
  trx: Trx,
  folders: readonly FolderId[],
  at: number,
  limit: number,
): Promise<number> {
  const marked = trx
    .selectFrom('files')
    .select('id')
    .where('folder_id', 'in', folders)
    .where('removal', '=', sql.lit('folder binned'))
    .limit(limit)
  const { numUpdatedRows } = await trx
    .updateTable('files')
    .set({ removed_at: null, removal: null, last_used_at: greatest(trx, 'last_used_at', at) })
    .where('id', 'in', marked)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

export async function unmarkFolders(trx: Trx, folders: readonly FolderId[]): Promise<void> {
  await trx
    .updateTable('folders')
    .set({ deleted_at: null, cleared_at: null, bin_id: null })
    .where('id', 'in', folders)
    .execute()
}

import { sql } from 'kysely'
import type { AccountId, BlobKey } from '../domain/ids.ts'
import type { Db } from './schema.ts'

/**
 * Sets room aside in one atomic statement, so that any number of uploads at once cannot pass the limit.
 * False when there is not that much room.
 */
export async function reserveRoom(
  trx: Db,
  account: AccountId,
  bytes: number,
  limit: number,
): Promise<boolean> {
  const result = await trx
    .updateTable('accounts')
    .set((row) => ({ storage_reserved: row('storage_reserved', '+', bytes) }))
    .where('id', '=', account)
    .where(sql<number>`storage_used + storage_reserved + ${bytes}`, '<=', limit)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function insertReservation(
  trx: Db,
  reservation: { key: BlobKey; account_id: AccountId; bytes: number; created_at: number },
): Promise<void> {
  await trx.insertInto('reservations').values(reservation).execute()
}

export async function growReservation(trx: Db, key: BlobKey, bytes: number): Promise<void> {
  await trx
    .updateTable('reservations')
    .set((row) => ({ bytes: row('bytes', '+', bytes) }))
    .where('key', '=', key)
    .execute()
}

/** Ends the reservation and gives its room back. Ending one that is gone does nothing. */
export async function endReservation(trx: Db, key: BlobKey): Promise<void> {
  const row = await trx
    .deleteFrom('reservations')
    .where('key', '=', key)
    .returning(['account_id', 'bytes'])
    .executeTakeFirst()
  if (row === undefined) return
  await trx
    .updateTable('accounts')
    .set((account) => ({ storage_reserved: account('storage_reserved', '-', row.bytes) }))
    .where('id', '=', row.account_id)
    .execute()
}

export async function listReservations(db: Db): Promise<BlobKey[]> {
  const rows = await db.selectFrom('reservations').select('key').execute()
  return rows.map((row) => row.key)
}

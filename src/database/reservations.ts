import { sql } from 'kysely'
import type { AccountId, BlobKey, NodeId } from '../domain/ids.ts'
import { preparedChange } from './prepared.ts'
import type { Db } from './schema.ts'

/**
 * Sets room aside in one atomic statement, so that any number of uploads at once cannot pass the limit: the account's
 * quota, or without one the limit that is given. False when there is not that much room.
 */
export async function reserveRoom(
  trx: Db,
  account: AccountId,
  bytes: number,
  limit: number,
): Promise<boolean> {
  return (await addReserved(trx, bytes, account, bytes, limit)).changed > 0
}

const addReserved = preparedChange((db, bytes: number, account: AccountId, needed: number, limit: number) =>
  db
    .updateTable('accounts')
    .set((row) => ({ storage_reserved: row('storage_reserved', '+', bytes) }))
    .where('id', '=', account)
    .where(
      sql<number>`storage_used + storage_reserved + ${needed}`,
      '<=',
      sql<number>`coalesce(quota, ${limit})`,
    ),
)

export async function insertReservation(
  trx: Db,
  reservation: { key: BlobKey; account_id: AccountId; bytes: number; created_at: number; node: NodeId },
): Promise<void> {
  const { key, account_id, bytes, created_at, node } = reservation
  await addReservation(trx, key, account_id, bytes, created_at, node)
}

const addReservation = preparedChange(
  (db, key: BlobKey, account_id: AccountId, bytes: number, created_at: number, node: NodeId) =>
    db.insertInto('reservations').values({ key, account_id, bytes, created_at, node }),
)

/** False when the reservation is gone. */
export async function growReservation(trx: Db, key: BlobKey, bytes: number): Promise<boolean> {
  const result = await trx
    .updateTable('reservations')
    .set((row) => ({ bytes: row('bytes', '+', bytes) }))
    .where('key', '=', key)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/**
 * Ends the reservation and gives its room back; false when it is gone, and then nothing is done. Of an upload that
 * brings its row in and whoever takes it for dead, the one for whom this is true decides.
 */
export async function endReservation(trx: Db, key: BlobKey): Promise<boolean> {
  const [row] = (await removeReservation(trx, key)).rows
  if (row === undefined) return false
  await takeReserved(trx, row.bytes, row.account_id)
  return true
}

const removeReservation = preparedChange((db, key: BlobKey) =>
  db.deleteFrom('reservations').where('key', '=', key).returning(['account_id', 'bytes']),
)

const takeReserved = preparedChange((db, bytes: number, account: AccountId) =>
  db
    .updateTable('accounts')
    .set((row) => ({ storage_reserved: row('storage_reserved', '-', bytes) }))
    .where('id', '=', account),
)

export interface DeadReservation {
  readonly key: BlobKey
  readonly account_id: AccountId
}

/** At most `limit` reservations of nodes that are dead. */
export function deadReservations(db: Db, limit: number): Promise<DeadReservation[]> {
  return db
    .selectFrom('reservations')
    .leftJoin('nodes', 'nodes.id', 'reservations.node')
    .select(['reservations.key', 'reservations.account_id'])
    .where('nodes.id', 'is', null)
    .limit(limit)
    .execute()
}

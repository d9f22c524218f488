import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { preparedChange } from '../database/prepared.ts'
import type { AccountId, BlobKey, NodeId } from '../domain/ids.ts'

export interface ReservationRow {
  readonly key: BlobKey
  readonly account_id: AccountId
  readonly bytes: number
  readonly created_at: number
  readonly node: NodeId
}

/**
 * Reserves the space and inserts the reservation, as one statement: for PostgreSQL only. False, without any effect, when
 * there is not enough space.
 */
export async function openAtOnce(db: Database, given: ReservationRow, limit: number): Promise<boolean> {
  const { key, account_id, bytes, created_at, node } = given
  return (await open(db, key, account_id, bytes, created_at, node, limit)).changed > 0
}

const open = preparedChange(
  (
    db: Database,
    key: BlobKey,
    account: AccountId,
    bytes: number,
    now: number,
    node: NodeId,
    limit: number,
  ) => ({
    compile: () =>
      sql`
        with given (key, account, bytes, now, node, most) as (
          values (
            cast(${key} as text), cast(${account} as bigint), cast(${bytes} as bigint), cast(${now} as bigint),
            cast(${node} as text), cast(${limit} as bigint)
          )
        ),
        reserved as (
          update accounts set storage_reserved = storage_reserved + given.bytes from given
          where accounts.id = given.account
            and storage_used + storage_reserved + given.bytes <= coalesce(quota, given.most)
          returning accounts.id
        )
        insert into reservations (key, account_id, bytes, created_at, node)
        select given.key, reserved.id, given.bytes, given.now, given.node from given, reserved`.compile(db),
  }),
)

import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { preparedChange } from '../database/prepared.ts'
import type { AccountId, BlobKey, FolderId, FolderIdentifier, FolderPlace, NodeId } from '../domain/ids.ts'
import { hasSpace } from './accounts.rows.ts'

export interface ReservationRow {
  readonly key: BlobKey
  readonly account_id: AccountId
  readonly bytes: number
  readonly created_at: number
  readonly node: NodeId
}

/** Reserves and inserts in one statement; PostgreSQL only. False, without effect, when space is lacking. */
export async function openAtOnce(db: Database, given: ReservationRow, limit: number): Promise<boolean> {
  const { key, account_id, bytes, created_at, node } = given
  return (await open(db, key, account_id, bytes, created_at, node, limit)).changed > 0
}

/**
 * Finds the folder and inserts a reservation of 0 bytes if the account now has space for `bytes`; storing the file
 * checks again. So it waits for no concurrent uploads of the account. Null, without effect, without space or a live
 * folder. PostgreSQL only.
 */
export async function openInPlace(
  db: Database,
  given: ReservationRow,
  limit: number,
  place: FolderPlace,
): Promise<FolderId | null> {
  const { key, account_id, bytes, created_at, node } = given
  const { rows } = await (place === 'root'
    ? openAtTop(db, key, account_id, bytes, created_at, node, limit)
    : openInFolder(db, key, account_id, bytes, created_at, node, limit, place))
  return rows[0]?.folder ?? null
}

const open = preparedChange(
  (db, key: BlobKey, account: AccountId, bytes: number, now: number, node: NodeId, limit: number) => ({
    compile: () =>
      sql`
        with ${given(key, account, bytes, now, node, limit)},
        reserved as (
          update accounts set storage_reserved = storage_reserved + given.bytes from given
          where accounts.id = given.account
            and ${hasSpace(sql`given.bytes`, sql`given.most`)}
          returning accounts.id
        )
        insert into reservations (key, account_id, bytes, created_at, node)
        select given.key, reserved.id, given.bytes, given.now, given.node from given, reserved`.compile(db),
  }),
)

const openAtTop = preparedChange(
  (db, key: BlobKey, account: AccountId, bytes: number, now: number, node: NodeId, limit: number) => ({
    compile: () =>
      opening(
        given(key, account, bytes, now, node, limit),
        sql`(
          select folders.id from folders, given
          where folders.account_id = given.account and folders.parent_id is null
        ) as place`,
      ).compile(db),
  }),
)

const openInFolder = preparedChange(
  (
    db,
    key: BlobKey,
    account: AccountId,
    bytes: number,
    now: number,
    node: NodeId,
    limit: number,
    place: FolderIdentifier,
  ) => ({
    compile: () =>
      opening(
        sql`${given(key, account, bytes, now, node, limit)},
          chain (id, parent_id, deleted_at, first) as (
            select folders.id, folders.parent_id, folders.deleted_at, folders.id
            from folders, given
            where folders.identifier = ${place} and folders.account_id = given.account
              and folders.parent_id is not null
            union all
            select folders.id, folders.parent_id, folders.deleted_at, chain.first
            from folders join chain on folders.id = chain.parent_id
          )`,
        sql`(
          select first as id from chain group by first having count(deleted_at) = 0
        ) as place`,
      ).compile(db),
  }),
)

function given(
  key: BlobKey,
  account: AccountId,
  bytes: number,
  now: number,
  node: NodeId,
  limit: number,
): RawBuilder<unknown> {
  return sql`
    given (key, account, bytes, now, node, most) as (
      values (
        cast(${key} as text), cast(${account} as bigint), cast(${bytes} as bigint), cast(${now} as bigint),
        cast(${node} as text), cast(${limit} as bigint)
      )
    )`
}

function opening(tables: RawBuilder<unknown>, place: RawBuilder<unknown>): RawBuilder<{ folder: FolderId }> {
  return sql<{ folder: FolderId }>`
    with recursive ${tables},
    wanted as materialized (
      select place.id as folder, given.*
      from given, accounts, ${place}
      where accounts.id = given.account
        and ${hasSpace(sql`given.bytes`, sql`given.most`)}
    )
    insert into reservations (key, account_id, bytes, created_at, node)
    select key, account, 0, now, node from wanted
    returning (select folder from wanted)`
}

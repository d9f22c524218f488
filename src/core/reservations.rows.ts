import { type RawBuilder, sql } from 'kysely'
import { type Database, isPostgres, type Queryable, type Trx } from '../database/database.ts'
import { prepared, preparedChange } from '../database/prepared.ts'
import { inTransaction } from '../database/transactions.ts'
import type { AccountId, BlobKey, FolderId, FolderIdentifier, FolderPlace, NodeId } from '../domain/ids.ts'
import { hasSpace } from './accounts.rows.ts'

/** One atomic statement: concurrent uploads stay below the quota (without one: `limit`). False if space is lacking. */
export async function reserveStorage(
  trx: Trx,
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
    .where(hasSpace(sql`${needed}`, sql`${limit}`)),
)

export async function fitsStorage(
  db: Queryable,
  account: AccountId,
  bytes: number,
  limit: number,
): Promise<boolean> {
  return (await fitting(db, account, bytes, limit)).length > 0
}

const fitting = prepared((db, account: AccountId, bytes: number, limit: number) =>
  db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', account)
    .where(hasSpace(sql`${bytes}`, sql`${limit}`)),
)

export async function openReservation(
  db: Database,
  reservation: ReservationRow,
  limit: number,
): Promise<boolean> {
  if (isPostgres(db)) return openAtOnce(db, reservation, limit)
  const { key, account_id, bytes, created_at, node } = reservation
  return inTransaction(db, async (trx) => {
    const isReserved = await reserveStorage(trx, account_id, bytes, limit)
    if (isReserved) await addReservation(trx, key, account_id, bytes, created_at, node)
    return isReserved
  })
}

const addReservation = preparedChange(
  (db, key: BlobKey, account_id: AccountId, bytes: number, created_at: number, node: NodeId) =>
    db.insertInto('reservations').values({ key, account_id, bytes, created_at, node }),
)

export async function growReservation(trx: Trx, key: BlobKey, bytes: number): Promise<boolean> {
  const result = await trx
    .updateTable('reservations')
    .set((row) => ({ bytes: row('bytes', '+', bytes) }))
    .where('key', '=', key)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Returns the space; false, without effect, if it is gone. Of a commit and a cleaner, the one with true wins. */
export async function endReservation(trx: Trx, key: BlobKey): Promise<boolean> {
  if (isPostgres(trx)) return (await endAtOnce(trx, key)).changed > 0
  const [row] = (await removeReservation(trx, key)).rows
  if (row === undefined) return false
  await takeReserved(trx, row.bytes, row.account_id)
  return true
}

const endAtOnce = preparedChange((trx: Trx, key: BlobKey) => ({
  compile: () =>
    sql`
      with ended as (delete from reservations where key = ${key} returning account_id, bytes)
      update accounts set storage_reserved = storage_reserved - ended.bytes from ended
      where accounts.id = ended.account_id`.compile(trx),
}))

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

export function deadReservations(db: Database, limit: number): Promise<DeadReservation[]> {
  return db
    .selectFrom('reservations')
    .leftJoin('nodes', 'nodes.id', 'reservations.node')
    .select(['reservations.key', 'reservations.account_id'])
    .where('nodes.id', 'is', null)
    .limit(limit)
    .execute()
}

/** Whether an unfinished upload, simple or resumable, writes the blob. */
export async function isBeingWritten(db: Database, key: BlobKey): Promise<boolean> {
  const { rows } = await sql<{ one: number }>`
    select 1 as one from reservations where key = ${key}
    union all select 1 from uploads where key = ${key}`.execute(db)
  return rows[0] !== undefined
}

export interface ReservationRow {
  readonly key: BlobKey
  readonly account_id: AccountId
  readonly bytes: number
  readonly created_at: number
  readonly node: NodeId
}

/** Reserves and inserts in one statement; PostgreSQL only. False, without effect, when space is lacking. */
async function openAtOnce(db: Database, given: ReservationRow, limit: number): Promise<boolean> {
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

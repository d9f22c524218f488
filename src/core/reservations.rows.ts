import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { prepared, preparedChange, preparedRows } from '../database/prepared.ts'
import { inTransaction } from '../database/transactions.ts'
import type { AccountId, BlobKey, FolderId, NodeId } from '../domain/ids.ts'
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

export interface ReservationRow {
  readonly key: BlobKey
  readonly account_id: AccountId
  /** Reserved of the account. */
  readonly bytes: number
  readonly created_at: number
  readonly node: NodeId
  /** Folder of the transfer that the upload goes into. */
  readonly transfer: FolderId | null
}

/**
 * Adds the row, and reserves its bytes, if the account has space for `needed`. Without bytes to reserve it waits for no
 * other upload of the account. False, without effect, when space is lacking.
 */
export async function insertReservation(
  db: Database,
  { key, account_id, bytes, created_at, node, transfer }: ReservationRow,
  needed: number,
  limit: number,
): Promise<boolean> {
  const insert = async (on: Queryable, space: number) =>
    (await insertFitting(on, key, bytes, created_at, node, transfer, account_id, space, limit)).changed > 0
  if (bytes === 0) return insert(db, needed)
  return inTransaction(
    db,
    async (trx) => (await reserveStorage(trx, account_id, bytes, limit)) && (await insert(trx, 0)),
  )
}

const insertFitting = preparedChange(
  (
    db,
    key: BlobKey,
    bytes: number,
    now: number,
    node: NodeId,
    transfer: FolderId | null,
    account: AccountId,
    needed: number,
    limit: number,
  ) => ({
    compile: () =>
      sql`
        insert into reservations (key, account_id, bytes, created_at, node, transfer)
        select
          cast(${key} as text), accounts.id, cast(${bytes} as bigint), cast(${now} as bigint), cast(${node} as text),
          cast(${transfer} as bigint)
        from accounts
        where accounts.id = ${account} and ${hasSpace(sql`${needed}`, sql`${limit}`)}`.compile(db),
  }),
)

export async function growReservation(trx: Trx, key: BlobKey, bytes: number): Promise<boolean> {
  const result = await trx
    .updateTable('reservations')
    .set((row) => ({ bytes: row('bytes', '+', bytes) }))
    .where('key', '=', key)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/**
 * Returns the space of an account's reservations; false where one is gone. Of a commit and a cleaner, the one with true
 * wins.
 */
export async function endReservations(trx: Trx, ...keys: readonly BlobKey[]): Promise<boolean> {
  const ended = await removeReservations(
    trx,
    keys.map((key) => ({ key })),
  )
  const [first] = ended
  const bytes = ended.reduce((sum, row) => sum + row.bytes, 0)
  if (first !== undefined && bytes > 0) await takeReserved(trx, bytes, first.account_id)
  return ended.length === keys.length
}

const removeReservations = preparedRows((db, reservations: readonly { readonly key: BlobKey }[]) =>
  db
    .deleteFrom('reservations')
    .where(
      'key',
      'in',
      reservations.map(({ key }) => key),
    )
    .returning(['account_id', 'bytes']),
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

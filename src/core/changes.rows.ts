/** Changes are inserted by their transaction under the account's lock, so an account's ids become visible in order. */
import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { preparedChange, preparedRows } from '../database/prepared.ts'
import type { Row } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { ChangeKind } from '../domain/event-kinds.ts'
import {
  type AccountId,
  type ChangeId,
  type FileId,
  type FolderId,
  type FolderIdentifier,
  type FolderPlace,
  GUESTS,
  type LinkEventId,
} from '../domain/ids.ts'
import { metaOf, setMeta } from './meta.rows.ts'

const columns = ['id', 'account_id', 'kind', 'file_id', 'folder', 'place', 'from_place'] as const

export interface ChangeRow extends Row<'changes', (typeof columns)[number]> {
  /** Only for kind `link`, while the event exists. */
  readonly event: LinkEventId | null
}

export interface NewChange {
  readonly kind: ChangeKind
  readonly file?: FileId
  readonly folder?: FolderIdentifier
  /** Current folder, or the last one of a deleted entry. */
  readonly place?: FolderId | null
  readonly from?: FolderId | null
}

/** Guests' changes are not logged, having no watchers. */
export async function noteChange(
  trx: Trx,
  account: AccountId,
  ...changes: readonly NewChange[]
): Promise<void> {
  if (account === GUESTS) return
  await insertChanges(
    trx,
    changes.map(({ kind, file = null, folder = null, place = null, from = null }) => ({
      account_id: account,
      kind,
      file_id: file,
      folder,
      place,
      from,
    })),
  )
}

const insertChanges = preparedRows(
  (
    db,
    changes: readonly {
      readonly account_id: AccountId
      readonly kind: ChangeKind
      readonly file_id: FileId | null
      readonly folder: FolderIdentifier | null
      readonly place: FolderId | null
      readonly from: FolderId | null
    }[],
  ) =>
    db.insertInto('changes').values(
      changes.map(({ place, from, ...change }) => ({
        ...change,
        place: placeOfFolder(place),
        from_place: placeOfFolder(from),
      })),
    ),
)

export async function noteEventChange(trx: Trx, account: AccountId, event: LinkEventId): Promise<void> {
  await insertEventChange(trx, account, event)
}

const insertEventChange = preparedChange((db, account_id: AccountId, event_id: LinkEventId) =>
  db.insertInto('changes').values({
    account_id,
    kind: sql.lit('link'),
    file_id: sql.lit(null),
    folder: sql.lit(null),
    place: sql.lit(null),
    from_place: sql.lit(null),
    event_id,
  }),
)

function placeOfFolder(id: FolderId | null) {
  return sql<FolderPlace | null>`(
    select case when parent_id is null then 'root' else identifier end from folders where id = ${id}
  )`
}

export interface WatchedAccount {
  readonly account: AccountId
  readonly after: ChangeId
}

/** At most `limit` changes after each account's cursor, oldest first. */
export async function changesAfter(
  db: Database,
  watched: readonly WatchedAccount[],
  limit: number,
): Promise<ChangeRow[]> {
  if (watched.length === 0) return []
  const rows = watched.map(
    ({ account, after }) => sql`(cast(${account} as bigint), cast(${after} as bigint))`,
  )
  const found = await sql<ChangeRow>`
    with watched (account, after) as (values ${sql.join(rows)})
    select ${sql.join(columns.map((column) => sql.ref(`changes.${column}`)))}, changes.event_id as event
    from watched join changes on changes.account_id = watched.account and changes.id > watched.after
    order by changes.id limit ${limit}`.execute(db)
  return found.rows
}

/** Cursor at the end of the account's log, or at the last forgotten change if that is later. */
export async function lastChange(db: Database, account: AccountId): Promise<ChangeId> {
  const forgotten = await forgottenChanges(db)
  const { last } = await db
    .selectFrom('changes')
    .select((change) => change.fn.max('id').as('last'))
    .where('account_id', '=', account)
    .executeTakeFirstOrThrow()
  return last !== null && last > forgotten ? last : forgotten
}

const FORGOTTEN = 'changes_forgotten'
const TO_FORGET = 'changes_to_forget'

export function forgottenChanges(db: Database): Promise<ChangeId> {
  return markOf(db, FORGOTTEN)
}

async function markOf(db: Queryable, key: string): Promise<ChangeId> {
  return Number((await metaOf(db, key)) ?? 0) as ChangeId
}

/**
 * Allows deleting the changes that existed at the previous call, and remembers the newest one for the next call. So
 * each change is kept for at least one interval between calls, independent of clocks.
 */
export async function ageChanges(db: Database): Promise<void> {
  await inTransaction(db, async (trx) => {
    const old = await markOf(trx, TO_FORGET)
    const newest = await trx
      .selectFrom('changes')
      .select((change) => change.fn.max('id').as('last'))
      .executeTakeFirstOrThrow()
    await setMeta(trx, FORGOTTEN, String(old))
    await setMeta(trx, TO_FORGET, String(newest.last ?? old))
  })
}

export async function dropForgotten(db: Database, limit: number): Promise<number> {
  const forgotten = await forgottenChanges(db)
  const old = db.selectFrom('changes').select('id').where('id', '<=', forgotten).orderBy('id').limit(limit)
  const { numDeletedRows } = await db.deleteFrom('changes').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

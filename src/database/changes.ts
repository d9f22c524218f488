/**
 * What has changed in accounts lately. A change is noted in the transaction that makes it, which has locked the account:
 * so the ids of one account's changes grow in the order in which they can be seen.
 */
import { sql } from 'kysely'
import type { ChangeKind } from '../domain/change.ts'
import {
  type AccountId,
  type ChangeId,
  type FileId,
  type FolderId,
  type FolderIdentifier,
  type FolderPlace,
  GUESTS,
} from '../domain/ids.ts'
import { metaOf, setMeta } from './meta.ts'
import { preparedChange } from './prepared.ts'
import type { Db } from './schema.ts'
import { inTransaction } from './transactions.ts'

export interface ChangeRow {
  readonly id: ChangeId
  readonly account_id: AccountId
  readonly kind: ChangeKind
  readonly file_id: FileId | null
  readonly folder: FolderIdentifier | null
  readonly place: FolderPlace | null
  readonly from_place: FolderPlace | null
}

const columns = ['id', 'account_id', 'kind', 'file_id', 'folder', 'place', 'from_place'] as const

/** Notes the change. Nobody watches what guests have. */
export async function noteChange(
  trx: Db,
  account: AccountId,
  change: {
    readonly kind: ChangeKind
    readonly file?: FileId
    readonly folder?: FolderIdentifier
    /** The folder that it is in now, or was in until now. */
    readonly place?: FolderId | null
    /** The one that it was moved from. */
    readonly from?: FolderId | null
  },
): Promise<void> {
  if (account === GUESTS) return
  const { kind, file = null, folder = null, place = null, from = null } = change
  await insertChange(trx, account, kind, file, folder, place, from)
}

const insertChange = preparedChange(
  (
    db,
    account_id: AccountId,
    kind: ChangeKind,
    file_id: FileId | null,
    folder: FolderIdentifier | null,
    place: FolderId | null,
    from: FolderId | null,
  ) =>
    db.insertInto('changes').values({
      account_id,
      kind,
      file_id,
      folder,
      place: placeOfFolder(place),
      from_place: placeOfFolder(from),
    }),
)

/** What callers know the folder by; null without one. */
function placeOfFolder(id: FolderId | null) {
  return sql<FolderPlace | null>`(
    select case when parent_id is null then 'root' else identifier end from folders where id = ${id}
  )`
}

export interface WatchedAccount {
  readonly account: AccountId
  /** The last change that is known. */
  readonly after: ChangeId
}

/** Changes in those accounts after what is known of each, the oldest first, at most `limit`. */
export async function changesAfter(
  db: Db,
  watched: readonly WatchedAccount[],
  limit: number,
): Promise<ChangeRow[]> {
  if (watched.length === 0) return []
  const rows = watched.map(
    ({ account, after }) => sql`(cast(${account} as bigint), cast(${after} as bigint))`,
  )
  const found = await sql<ChangeRow>`
    with watched (account, after) as (values ${sql.join(rows)})
    select ${sql.join(columns.map((column) => sql.ref(`changes.${column}`)))}
    from watched join changes on changes.account_id = watched.account and changes.id > watched.after
    order by changes.id limit ${limit}`.execute(db)
  return found.rows
}

/** The account's last change, or the last that was forgotten: whoever knows it has missed nothing. */
export async function lastChange(db: Db, account: AccountId): Promise<ChangeId> {
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

/** Up to which change, of whatever account, some may not be there any more. */
export function forgottenChanges(db: Db): Promise<ChangeId> {
  return markOf(db, FORGOTTEN)
}

async function markOf(db: Db, key: string): Promise<ChangeId> {
  return Number((await metaOf(db, key)) ?? 0) as ChangeId
}

/**
 * What was there when this was called the last time may be forgotten from now on, and what is there now the next time:
 * so it is kept for as long as lies between two calls, by nobody's clock.
 */
export async function ageChanges(db: Db): Promise<void> {
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

/** Drops at most `limit` changes that may be forgotten; returns how many. */
export async function dropForgotten(db: Db, limit: number): Promise<number> {
  const forgotten = await forgottenChanges(db)
  const old = db.selectFrom('changes').select('id').where('id', '<=', forgotten).orderBy('id').limit(limit)
  const { numDeletedRows } = await db.deleteFrom('changes').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

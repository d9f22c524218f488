import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { prepared } from '../../database/prepared.ts'
import type { Removal } from '../../database/schema.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, withPause } from '../../domain/clock.ts'
import type { AccountId, BinEntryId, FolderId } from '../../domain/ids.ts'
import { revokeLinksOfDeleted } from '../transfers.rows.ts'

/** Rows per transaction: at a million files each costs SQLite a good part of a millisecond. */
const STEP = 60
const FOLDERS = 50

/** A tree of any size vanishes at once and is cleared later, in steps. */
export function createFolderClearing(db: Database, clock: Clock) {
  async function step(): Promise<boolean> {
    const found = await foldersToClear(db, 1)
    if (found === null) return false
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, found.account)
      // Before the lock, binned folders may have been restored or deleted for good.
      const present = await foldersToClear(trx, FOLDERS, found.account)
      if (present === null) return
      const now = clock.now()
      const children = await markChildren(trx, present, now, STEP)
      const files = await markFiles(trx, present, now, STEP - Math.min(children, STEP - 1))
      if (children === 0 && files === 0) await markCleared(trx, present.folders, now)
    })
    return true
  }

  return {
    hasWork: () => isAnyToClear(db),

    async run(mayGoOn: () => boolean = () => true) {
      while (mayGoOn() && (await withPause(clock.timers, step)));
    },
  }
}

interface FoldersToClear {
  readonly account: AccountId
  /** Null means deleted for good. */
  readonly entry: BinEntryId | null
  readonly folders: readonly FolderId[]
}

/** At most `limit`; none being restored. */
async function foldersToClear(
  db: Queryable,
  limit: number,
  account: AccountId | null = null,
): Promise<FoldersToClear | null> {
  const all = notCleared(db).select(['id', 'account_id', 'bin_id'])
  const uncleared = account === null ? all : all.where('account_id', '=', account)
  const first = await uncleared.limit(1).executeTakeFirst()
  if (first === undefined) return null
  const { account_id, bin_id: entry } = first
  const alike = uncleared
    .where('account_id', '=', account_id)
    .where('bin_id', entry === null ? 'is' : '=', entry)
  const rows = await alike.limit(limit).execute()
  return { account: account_id, entry, folders: rows.map((row) => row.id) }
}

async function isAnyToClear(db: Queryable): Promise<boolean> {
  return (await oneToClear(db)).length > 0
}

const oneToClear = prepared((db) => notCleared(db).select('id').limit(sql.lit(1)))

function notCleared(db: Queryable) {
  return db
    .selectFrom('folders')
    .where('deleted_at', 'is not', null)
    .where('cleared_at', 'is', null)
    .where((folder) =>
      folder.not(
        folder.exists(
          folder
            .selectFrom('bin')
            .select('bin.id')
            .whereRef('bin.id', '=', 'folders.bin_id')
            .where('bin.restoring', '=', sql.lit(1)),
        ),
      ),
    )
}

/** At most `limit`; returns how many. Those in the bin by their own entry stay there. */
async function markChildren(
  trx: Trx,
  { folders, entry }: FoldersToClear,
  at: number,
  limit: number,
): Promise<number> {
  const below = trx.selectFrom('folders').select('id').where('parent_id', 'in', folders)
  const live = below.where('deleted_at', 'is', null)
  const binnedAlong = below.where('bin_id', 'is not', null).where((child) => {
    const own = child.selectFrom('bin').select('bin.id').whereRef('bin.folder_id', '=', 'folders.id')
    return child.not(child.exists(own))
  })
  let marked = 0
  // Each kind has an index, which marked rows leave.
  for (const children of entry === null ? [live, binnedAlong] : [live]) {
    if (marked === limit) break
    const { numUpdatedRows } = await trx
      .updateTable('folders')
      .set({ deleted_at: at, cleared_at: null, bin_id: entry })
      .where('id', 'in', children.limit(limit - marked))
      .executeTakeFirstOrThrow()
    marked += Number(numUpdatedRows)
  }
  return marked
}

/** Marks a descendant early, without its contents. */
export async function markAlong(trx: Trx, folder: FolderId, entry: BinEntryId, at: number): Promise<void> {
  await trx
    .updateTable('folders')
    .set({ deleted_at: at, cleared_at: null, bin_id: entry })
    .where('id', '=', folder)
    .where('deleted_at', 'is', null)
    .execute()
}

/** Removals that a folder's deletion takes over, besides live files. */
const ALONG: readonly Removal[] = ['folder binned', 'expired']

/** At most `limit`; returns how many. Their totals are already subtracted. */
async function markFiles(
  trx: Trx,
  { folders, entry }: FoldersToClear,
  at: number,
  limit: number,
): Promise<number> {
  const removal = entry === null ? 'deleted' : 'folder binned'
  const inside = trx.selectFrom('files').select('id').where('folder_id', 'in', folders)
  // `created_at` makes SQLite use an index of live files alone, which shrinks with each step.
  const live = inside.where('removed_at', 'is', null).where('created_at', '>=', 0)
  const along = ALONG.map((kind) => inside.where('removal', '=', sql.lit(kind)))
  let marked = 0
  for (const files of entry === null ? [live, ...along] : [live]) {
    if (marked === limit) break
    const { numUpdatedRows } = await trx
      .updateTable('files')
      .set({ removed_at: at, removal })
      .where('id', 'in', files.limit(limit - marked))
      .executeTakeFirstOrThrow()
    marked += Number(numUpdatedRows)
  }
  return marked
}

async function markCleared(trx: Trx, ids: readonly FolderId[], at: number): Promise<void> {
  await trx.updateTable('folders').set({ cleared_at: at }).where('id', 'in', ids).execute()
}

/**
 * At most `limit` unreferenced rows; returns how many. Leaves go first, so a tree takes as many calls as levels. Links of
 * deleted transfers are revoked: their addresses stay taken for a while.
 */
export async function dropDeletedFolders(db: Database, limit: number, now: number): Promise<number> {
  await revokeLinksOfDeleted(db, now)
  const { numAffectedRows } = await sql`delete from folders where id in (${DELETED} limit ${limit})`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}

export async function isAnyFolderDeleted(db: Database): Promise<boolean> {
  return (await sql`${DELETED} limit 1`.execute(db)).rows.length > 0
}

const DELETED = sql`
  select id from folders as gone
  where gone.deleted_at is not null and gone.cleared_at is not null
    and gone.bin_id is null
    and not exists (select 1 from folders as child where child.parent_id = gone.id)
    and not exists (select 1 from files where files.folder_id = gone.id)
    and not exists (select 1 from uploads where uploads.folder_id = gone.id)`

import type { SelectQueryBuilder } from 'kysely'
import type { AccountId, BlobId, FileId, FolderId } from '../domain/ids.ts'
import { changeTotals } from './accounts.ts'
import { forUpdate, wholeSum } from './differences.ts'
import { changeFiles, isGone } from './folders.ts'
import type { Db, Removal, Tables } from './schema.ts'

export interface RemovableFile {
  readonly id: FileId
  readonly account_id: AccountId
  readonly folder_id: FolderId
  readonly size: number
}

const columns = ['id', 'account_id', 'folder_id', 'size'] as const

/** Takes live files out of every list, count and total. */
export async function markRemoved(
  trx: Db,
  files: readonly RemovableFile[],
  removal: Removal,
  at: number,
): Promise<void> {
  await trx
    .updateTable('files')
    .set({ removed_at: at, removal })
    .where(
      'id',
      'in',
      files.map((file) => file.id),
    )
    .execute()
  await adjustTotals(trx, files, -1)
}

/** Takes the mark back: the files are there again, and counted. */
export async function markAlive(trx: Db, files: readonly RemovableFile[]): Promise<void> {
  await trx
    .updateTable('files')
    .set({ removed_at: null, removal: null })
    .where(
      'id',
      'in',
      files.map((file) => file.id),
    )
    .execute()
  await adjustTotals(trx, files, 1)
}

async function adjustTotals(trx: Db, files: readonly RemovableFile[], sign: 1 | -1): Promise<void> {
  const folders = new Map<FolderId, { account: AccountId; files: number; bytes: number }>()
  for (const { folder_id, account_id, size } of files) {
    const folder = folders.get(folder_id) ?? { account: account_id, files: 0, bytes: 0 }
    folder.files += sign
    folder.bytes += sign * size
    folders.set(folder_id, folder)
  }
  for (const [folder, { account, files, bytes }] of folders) {
    // What was in a deleted folder left the totals with it.
    if (await isGone(trx, folder)) continue
    await changeFiles(trx, folder, files, bytes)
    await changeTotals(trx, account, { storage: bytes, files })
  }
}

/** Live files that nobody has looked at since `cutoff`; given `among`, those of them, locked. */
export function unusedFiles(
  db: Db,
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  const unused = db
    .selectFrom('files')
    .select(columns)
    .where('removed_at', 'is', null)
    .where('last_used_at', '<', cutoff)
  if (among !== undefined) return lockedAmong(db, unused, among)
  return unused.orderBy('last_used_at').limit(limit).execute()
}

function lockedAmong(
  db: Db,
  files: SelectQueryBuilder<Tables, 'files', RemovableFile>,
  ids: readonly FileId[],
): Promise<RemovableFile[]> {
  return files.where('id', 'in', ids).orderBy('id').modifyEnd(forUpdate(db)).execute()
}

/** Files marked as expired though they were used since `cutoff`: the clock had been wrong. `among` as above. */
export function wronglyExpired(
  db: Db,
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  const wrong = db
    .selectFrom('files')
    .select(columns)
    .where('removed_at', 'is not', null)
    .where('removal', '=', 'expired')
    .where('last_used_at', '>=', cutoff)
  return among === undefined ? wrong.limit(limit).execute() : lockedAmong(db, wrong, among)
}

/** Removed files that may go for good: marked no later than `markedBefore` and still unused since `cutoff`. */
export async function expiredForGood(
  db: Db,
  markedBefore: number,
  cutoff: number,
  limit: number,
): Promise<FileId[]> {
  const rows = await db
    .selectFrom('files')
    .select('id')
    .where('removed_at', '<=', markedBefore)
    .where('removal', '=', 'expired')
    .where('last_used_at', '<', cutoff)
    .orderBy('last_used_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

export async function deletedFiles(db: Db, limit: number): Promise<FileId[]> {
  const rows = await db
    .selectFrom('files')
    .select('id')
    .where('removed_at', 'is not', null)
    .where('removal', '=', 'deleted')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Drops the row of a removed file; returns the blob it used, or null when it is gone or alive again. */
export async function dropFile(trx: Db, id: FileId): Promise<BlobId | null> {
  const row = await trx
    .deleteFrom('files')
    .where('id', '=', id)
    .where('removed_at', 'is not', null)
    .returning('blob_id')
    .executeTakeFirst()
  return row?.blob_id ?? null
}

/** Marks at most `limit` live files in deleted folders as deleted; returns how many. The totals have left them out. */
export async function markFilesDeleted(
  trx: Db,
  folders: readonly FolderId[],
  at: number,
  limit: number,
): Promise<number> {
  const files = trx
    .selectFrom('files')
    .select('id')
    .where('folder_id', 'in', folders)
    .where((file) => file.or([file('removed_at', 'is', null), file('removal', '=', 'expired')]))
    .limit(limit)
  const { numUpdatedRows } = await trx
    .updateTable('files')
    .set({ removed_at: at, removal: 'deleted' })
    .where('id', 'in', files)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

export async function countLiveFiles(db: Db): Promise<number> {
  const row = await db
    .selectFrom('accounts')
    .select(wholeSum(db, 'files_count').as('files'))
    .executeTakeFirstOrThrow()
  return row.files
}

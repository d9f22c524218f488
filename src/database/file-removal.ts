import type { AccountId, BlobId, FileId, FolderId } from '../domain/ids.ts'
import { changeTotals } from './accounts.ts'
import { changeFileCount } from './folders.ts'
import type { Db, Removal } from './schema.ts'

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
  const folders = new Map<FolderId, number>()
  const accounts = new Map<AccountId, { storage: number; files: number }>()
  for (const file of files) {
    folders.set(file.folder_id, (folders.get(file.folder_id) ?? 0) + sign)
    const account = accounts.get(file.account_id) ?? { storage: 0, files: 0 }
    account.storage += sign * file.size
    account.files += sign
    accounts.set(file.account_id, account)
  }
  for (const [folder, by] of folders) await changeFileCount(trx, folder, by)
  for (const [account, change] of accounts) await changeTotals(trx, account, change)
}

/** Live files that nobody has looked at since `cutoff`. */
export function unusedFiles(db: Db, cutoff: number, limit: number): Promise<RemovableFile[]> {
  return db
    .selectFrom('files')
    .select(columns)
    .where('removed_at', 'is', null)
    .where('last_used_at', '<', cutoff)
    .orderBy('last_used_at')
    .limit(limit)
    .execute()
}

/** Files marked as expired though they were used since `cutoff`: the clock had been wrong. */
export function wronglyExpired(db: Db, cutoff: number, limit: number): Promise<RemovableFile[]> {
  return db
    .selectFrom('files')
    .select(columns)
    .where('removed_at', 'is not', null)
    .where('removal', '=', 'expired')
    .where('last_used_at', '>=', cutoff)
    .limit(limit)
    .execute()
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

/** Deletes all files directly in the folder; says how many were alive and what they weighed. */
export async function deleteFilesIn(
  trx: Db,
  folder: FolderId,
  at: number,
): Promise<{ files: number; bytes: number }> {
  const alive = await trx
    .selectFrom('files')
    .select((row) => [
      row.fn.countAll<number>().as('files'),
      row.fn.coalesce(row.fn.sum<number>('size'), row.lit(0)).as('bytes'),
    ])
    .where('folder_id', '=', folder)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  await trx
    .updateTable('files')
    .set({ removed_at: at, removal: 'deleted' })
    .where('folder_id', '=', folder)
    .execute()
  return alive
}

export async function countLiveFiles(db: Db): Promise<number> {
  const row = await db
    .selectFrom('accounts')
    .select((all) => all.fn.coalesce(all.fn.sum<number>('files_count'), all.lit(0)).as('files'))
    .executeTakeFirstOrThrow()
  return row.files
}

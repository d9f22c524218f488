import type { SelectQueryBuilder } from 'kysely'
import { changeTotals } from '../core/accounts.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { forUpdate, wholeSum } from '../database/differences.ts'
import type { Removal, Row, Tables } from '../database/schema.ts'
import type { AccountId, BinEntryId, BlobId, FileId, FolderId } from '../domain/ids.ts'
import { markAlong } from './folders/folder-clearing.rows.ts'
import { changeFiles, folderChain, isGone } from './folders/folders.rows.ts'

const columns = ['id', 'account_id', 'folder_id', 'size'] as const

export type RemovableFile = Row<'files', (typeof columns)[number]>

/** Takes live files out of every list, count and total. */
export async function markRemoved(
  trx: Trx,
  files: readonly RemovableFile[],
  removal: Removal,
  at: number,
): Promise<void> {
  await setRemoved(trx, files, removal, at)
  await adjustTotals(trx, files, -1)
}

/**
 * The same for files that have expired. One that went into the bin with a folder, and is not marked so yet, is marked
 * as that instead, with the folder that it is in: what is in the bin does not expire there.
 */
export async function markExpired(trx: Trx, files: readonly RemovableFile[], at: number): Promise<void> {
  const binned = await foldersInBin(trx, files)
  const expired = files.filter((file) => !binned.has(file.folder_id))
  const along = files.filter((file) => binned.has(file.folder_id))
  if (expired.length > 0) await markRemoved(trx, expired, 'expired', at)
  if (along.length > 0) await setRemoved(trx, along, 'folder binned', at)
  // By the folder's mark they are found when it comes back.
  for (const [folder, entry] of binned) await markAlong(trx, folder, entry, at)
}

/** Takes the mark of expired files back, but for those in the bin; returns which are there again, and counted. */
export async function markAlive(trx: Trx, files: readonly RemovableFile[]): Promise<RemovableFile[]> {
  const binned = await foldersInBin(trx, files)
  const alive = files.filter((file) => !binned.has(file.folder_id))
  if (alive.length === 0) return alive
  await setRemoved(trx, alive, null, 0)
  await adjustTotals(trx, alive, 1)
  return alive
}

/** Which of the files' folders are in the bin, marked or not, and by which entries. */
async function foldersInBin(
  trx: Trx,
  files: readonly RemovableFile[],
): Promise<ReadonlyMap<FolderId, BinEntryId>> {
  const binned = new Map<FolderId, BinEntryId>()
  for (const folder of new Set(files.map((file) => file.folder_id))) {
    const deleted = (await folderChain(trx, folder)).filter((step) => step.deleted_at !== null)
    const entry = deleted.at(-1)?.bin_id ?? null
    if (entry !== null) binned.set(folder, entry)
  }
  return binned
}

/** Puts the mark on the files, or takes it off, and leaves the totals alone. */
export async function setRemoved(
  trx: Trx,
  files: readonly { readonly id: FileId }[],
  removal: Removal | null,
  at: number,
): Promise<void> {
  await trx
    .updateTable('files')
    .set({ removed_at: removal === null ? null : at, removal })
    .where(
      'id',
      'in',
      files.map((file) => file.id),
    )
    .execute()
}

async function adjustTotals(trx: Trx, files: readonly RemovableFile[], sign: 1 | -1): Promise<void> {
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
  trx: Trx,
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  const unused = trx
    .selectFrom('files')
    .select(columns)
    .where('removed_at', 'is', null)
    .where('last_used_at', '<', cutoff)
  if (among !== undefined) return lockedAmong(trx, unused, among)
  return unused.orderBy('last_used_at').limit(limit).execute()
}

function lockedAmong(
  trx: Trx,
  files: SelectQueryBuilder<Tables, 'files', RemovableFile>,
  ids: readonly FileId[],
): Promise<RemovableFile[]> {
  return files.where('id', 'in', ids).orderBy('id').modifyEnd(forUpdate(trx)).execute()
}

/**
 * Files marked as expired though they were used since `cutoff`: the clock had been wrong. `among` as above. Those in the
 * bin have to wait for their folder.
 */
export function wronglyExpired(
  trx: Trx,
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  const wrong = trx
    .selectFrom('files')
    .select(columns)
    .where('removed_at', 'is not', null)
    .where('removal', '=', 'expired')
    .where('last_used_at', '>=', cutoff)
    .where((file) =>
      file.not(
        file.exists(
          file
            .selectFrom('folders')
            .select('folders.id')
            .whereRef('folders.id', '=', 'files.folder_id')
            .where('folders.bin_id', 'is not', null),
        ),
      ),
    )
  return among === undefined ? wrong.limit(limit).execute() : lockedAmong(trx, wrong, among)
}

/** Removed files that may go for good: marked no later than `markedBefore` and still unused since `cutoff`. */
export async function expiredForGood(
  db: Database,
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

export async function deletedFiles(db: Database, limit: number): Promise<FileId[]> {
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
export async function dropFile(trx: Trx, id: FileId): Promise<BlobId | null> {
  const row = await trx
    .deleteFrom('files')
    .where('id', '=', id)
    .where('removed_at', 'is not', null)
    .returning('blob_id')
    .executeTakeFirst()
  return row?.blob_id ?? null
}

export async function countLiveFiles(db: Database): Promise<number> {
  const row = await db
    .selectFrom('accounts')
    .select(wholeSum(db, 'files_count').as('files'))
    .executeTakeFirstOrThrow()
  return row.files
}

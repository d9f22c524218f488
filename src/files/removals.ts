import type { Deletion } from '../contract/files.ts'
import { changeTotals } from '../core/accounts.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import type { Removal, Row } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Reach } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import type { AccountId, BlobId, FileId, FileIdentifier, FolderId, FolderIdentifier } from '../domain/ids.ts'
import {
  enclosingAmong,
  enclosingFolders,
  inBlocks,
  ownFilesByIdentifier,
  ownFoldersByIdentifier,
  resolveFiles,
} from './batches.ts'
import {
  changeFiles,
  changeTree,
  type FolderRow,
  isGone,
  markFolderDeleted,
  takenAway,
} from './folders/folders.rows.ts'

export interface RemovalCounts {
  readonly processed: number
  readonly deleted: number
  readonly filesDeleted: number
}

export type Removals = ReturnType<typeof createRemovals>

/** Final, and effective at once; rows and bytes are cleared later. */
export function createRemovals(db: Database, clock: Clock) {
  /** Returns how many still existed. */
  function deleteFiles(reach: Reach, ids: readonly FileId[]): Promise<number> {
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, reach.account)
      const identifiers = ids.map((id) => ({ kind: 'id', id }) as const)
      const files = await ownFilesByIdentifier(trx, reach, identifiers)
      if (files.length === 0) return 0
      await markRemoved(trx, files, 'deleted', clock.now())
      // Changes in the order named.
      for (const file of files.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))) {
        const change = { kind: 'file.removed', file: file.id, place: file.folder_id } as const
        await noteChange(trx, reach.account, change)
      }
      return files.length
    })
  }

  function deleteFolders(
    reach: Reach,
    identifiers: readonly FolderIdentifier[],
  ): Promise<{ deleted: FolderIdentifier[]; files: number }> {
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, reach.account)
      const there = await ownFoldersByIdentifier(trx, reach, identifiers)
      const named = new Set(there.map((folder) => folder.identifier))
      const outer = there.filter(
        ({ identifier, chain }) => enclosingAmong(identifier, chain, named).length === 0,
      )
      let sum = 0
      for (const folder of outer) {
        await removeTree(trx, reach.account, folder, clock.now())
        sum += folder.tree_files
      }
      return { deleted: [...named], files: sum }
    })
  }

  return {
    /** Files out of reach count as processed, not deleted; a file counts once for all its names. */
    async files(reach: Reach, identifiers: readonly FileIdentifier[]): Promise<RemovalCounts> {
      const named = await resolveFiles(db, reach, identifiers)
      const files = new Set(named.filter((id) => id !== undefined))
      const unknown = named.filter((id) => id === undefined).length
      let deleted = 0
      for await (const block of inBlocks([...files])) deleted += await deleteFiles(reach, block)
      return { processed: files.size + unknown, deleted, filesDeleted: deleted }
    },

    /** A folder inside another named one counts with it. Skips the folder to which the caller is confined. */
    async folders(reach: Reach, identifiers: readonly FolderIdentifier[]): Promise<RemovalCounts> {
      const around = await enclosingFolders(db, reach, identifiers)
      const outerFirst = [...around]
        .filter(([identifier]) => identifier !== reach.within)
        .sort(([, one], [, other]) => one.length - other.length)
      const deleted = new Set<FolderIdentifier>()
      let filesDeleted = 0
      for await (const block of inBlocks(outerFirst)) {
        const isGone = (above: readonly FolderIdentifier[]) => above.some((each) => deleted.has(each))
        const left = block.flatMap(([identifier, above]) => (isGone(above) ? [] : [identifier]))
        for (const [identifier, above] of block) if (isGone(above)) deleted.add(identifier)
        if (left.length === 0) continue
        const result = await deleteFolders(reach, left)
        for (const identifier of result.deleted) deleted.add(identifier)
        filesDeleted += result.files
      }
      return { processed: identifiers.length, deleted: deleted.size, filesDeleted }
    },
  }
}

/** Final, and at once for everybody. Call under the account's lock. */
export async function removeTree(
  trx: Trx,
  account: AccountId,
  { id, identifier, parent_id, tree_files, tree_bytes, tree_folders }: RemovableTree,
  now: number,
): Promise<void> {
  const gone = { files: tree_files, bytes: tree_bytes, folders: tree_folders + 1 }
  await markFolderDeleted(trx, id, now)
  if (parent_id !== null) await changeTree(trx, parent_id, takenAway(gone))
  const totals = { storage: -gone.bytes, files: -gone.files, folders: -gone.folders }
  await changeTotals(trx, account, totals)
  const change = { kind: 'folder.removed', folder: identifier, place: parent_id } as const
  await noteChange(trx, account, change)
}

type RemovableTree = Pick<
  FolderRow,
  'id' | 'identifier' | 'parent_id' | 'tree_files' | 'tree_bytes' | 'tree_folders'
>

export function toDeletion(counts: RemovalCounts, things: 'files' | 'folders'): Deletion {
  return {
    success: counts.deleted === counts.processed,
    message: `Deleted ${counts.deleted} of ${counts.processed} ${things}`,
    total_processed: counts.processed,
    successful_deletes: counts.deleted,
    failed_deletes: counts.processed - counts.deleted,
    files_deleted: counts.filesDeleted,
  }
}

export const removableColumns = ['id', 'account_id', 'folder_id', 'size'] as const

export type RemovableFile = Row<'files', (typeof removableColumns)[number]>

/** Takes live files out of every list, link and total. */
export async function markRemoved(
  trx: Trx,
  files: readonly RemovableFile[],
  removal: Removal,
  at: number,
): Promise<void> {
  await setRemoved(trx, files, removal, at)
  await adjustTotals(trx, files, -1)
}

/** Leaves the totals unchanged. */
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

export async function adjustTotals(trx: Trx, files: readonly RemovableFile[], sign: 1 | -1): Promise<void> {
  const folders = new Map<FolderId, { account: AccountId; files: number; bytes: number }>()
  for (const { folder_id, account_id, size } of files) {
    const folder = folders.get(folder_id) ?? { account: account_id, files: 0, bytes: 0 }
    folder.files += sign
    folder.bytes += sign * size
    folders.set(folder_id, folder)
  }
  for (const [folder, { account, files, bytes }] of folders) {
    // A deleted folder's files have left the totals.
    if (await isGone(trx, folder)) continue
    await changeFiles(trx, folder, files, bytes)
    await changeTotals(trx, account, { storage: bytes, files })
  }
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

/** Null when the file is gone or alive again. */
export async function dropFile(trx: Trx, id: FileId): Promise<BlobId | null> {
  const row = await trx
    .deleteFrom('files')
    .where('id', '=', id)
    .where('removed_at', 'is not', null)
    .returning('blob_id')
    .executeTakeFirst()
  return row?.blob_id ?? null
}

import { topFolder } from '../../core/accounts.rows.ts'
import type { Trx } from '../../database/database.ts'
import { Refusal } from '../../domain/errors.ts'
import { numberedFolderName } from '../../domain/folder-name.ts'
import type { AccountId, BinEntryId, FolderId } from '../../domain/ids.ts'
import { tooDeep } from '../folders/folder-moving.ts'
import {
  type ChainRow,
  childNamed,
  type FolderRow,
  folderById,
  folderChain,
  isDeeperThan,
} from '../folders/folders.rows.ts'
import type { BinEntryRow } from './bin.rows.ts'

/** The old parent, or the top level: as a private folder if an ancestor had been closed. */
export async function placeForFolder(
  trx: Trx,
  folder: FolderRow,
  maxDepth: number,
): Promise<{ readonly parent: FolderId; readonly isPublic: boolean }> {
  const { parent_id } = folder
  if (parent_id === null) throw new Error('a top level was in the bin')
  const way = await folderChain(trx, parent_id)
  if (!isGoneWay(way) && !(await isTooDeep(trx, folder, way, maxDepth, null))) {
    return { parent: parent_id, isPublic: true }
  }
  return { parent: await topFolder(trx, folder.account_id), isPublic: !keepsOut(way) }
}

/** Counts the folders that the entry holds. */
export async function isTooDeep(
  trx: Trx,
  folder: FolderRow,
  way: readonly ChainRow[],
  maxDepth: number,
  entry: BinEntryId | null,
): Promise<boolean> {
  const levelsLeft = maxDepth - way.length
  return folder.tree_height + 1 > levelsLeft && (await isDeeperThan(trx, folder.id, levelsLeft, entry))
}

export async function placeForFile(trx: Trx, account: AccountId, folder: FolderId): Promise<FolderId> {
  const way = await folderChain(trx, folder)
  if (!isGoneWay(way)) return folder
  if (keepsOut(way)) {
    // At top level everybody with its link would see it.
    throw new Refusal(
      'FOLDER_NOT_FOUND',
      'The private folder that the file was in is gone; name the folder to put it into',
    )
  }
  return topFolder(trx, account)
}

/** Throws Refusal FOLDER_NOT_FOUND or MAX_DEPTH_EXCEEDED. */
export async function assertOldPlace(
  trx: Trx,
  entry: BinEntryRow,
  place: FolderId,
  maxDepth: number,
): Promise<void> {
  const way = await folderChain(trx, place)
  if (isGoneWay(way)) {
    throw new Refusal('FOLDER_NOT_FOUND', 'The folder that it was in is gone; name the folder to put it into')
  }
  if (entry.folder_id === null) return
  const folder = await folderById(trx, entry.folder_id)
  if (await isTooDeep(trx, folder, way, maxDepth, entry.id)) throw tooDeep(maxDepth)
}

const isGoneWay = (way: readonly ChainRow[]) => way.some((step) => step.deleted_at !== null)

const keepsOut = (way: readonly ChainRow[]) =>
  way.some((step) => step.is_public === 0 || step.password_hash !== null)

export async function freeName(trx: Trx, parent: FolderId, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : numberedFolderName(name, number)
    if ((await childNamed(trx, parent, free)) === undefined) return free
  }
}

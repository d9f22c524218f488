import { topFolder } from '../database/accounts.ts'
import { type FolderListRow, findFolder, folderChain } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FolderId, FolderIdentifier, FolderPlace } from '../domain/ids.ts'

/** The account's own live folder. Throws Refusal FOLDER_NOT_FOUND, for a foreign one just as for a missing one. */
export async function ownFolder(
  db: Db,
  account: AccountId,
  identifier: FolderIdentifier,
): Promise<FolderListRow> {
  const folder = await findFolder(db, identifier)
  if (folder === undefined || folder.account_id !== account) throw folderNotFound()
  return folder
}

/** The row of a place in the account's tree. Throws Refusal FOLDER_NOT_FOUND. */
export async function placeOf(db: Db, account: AccountId, place: FolderPlace): Promise<FolderId> {
  return place === 'root' ? topFolder(db, account) : (await ownFolder(db, account, place)).id
}

/** Throws Refusal FOLDER_NOT_FOUND when the folder, found before, was deleted since. */
export async function assertPlaceLives(trx: Db, folder: FolderId): Promise<void> {
  const chain = await folderChain(trx, folder)
  if (chain.some((step) => step.deleted_at !== null)) throw folderNotFound()
}

export function folderNotFound(): Refusal {
  return new Refusal('FOLDER_NOT_FOUND', 'There is no such folder')
}

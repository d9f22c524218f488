import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { Trx } from '../../database/database.ts'
import type { AccountId, FolderId } from '../../domain/ids.ts'
import { makeFolderIdentifier, type Random } from '../../domain/random.ts'
import { insertFolder } from './folder-changes.rows.ts'
import { tooDeep } from './folder-moving.ts'
import { changeTree, childNamed, folderChain } from './folders.rows.ts'
import { folderNotFound } from './places.ts'

/**
 * Missing folders are created, under the account's lock, so that concurrent callers get one. Throws Refusal
 * MAX_DEPTH_EXCEEDED, or FOLDER_NOT_FOUND when `start` was deleted.
 */
export async function ensurePath(
  trx: Trx,
  account: AccountId,
  start: FolderId,
  names: readonly string[],
  options: { readonly random: Random; readonly now: number; readonly maxDepth: number },
): Promise<FolderId> {
  const chain = await folderChain(trx, start)
  if (chain.some((step) => step.deleted_at !== null)) throw folderNotFound()
  if (chain.length + names.length > options.maxDepth) throw tooDeep(options.maxDepth)
  let place = start
  for (const name of names) {
    place = (await childNamed(trx, place, name)) ?? (await addFolder(place, name))
  }
  return place

  async function addFolder(parent_id: FolderId, name: string): Promise<FolderId> {
    const identifier = makeFolderIdentifier(options.random)
    const { id } = await insertFolder(trx, {
      identifier,
      account_id: account,
      parent_id,
      name,
      is_public: 1,
      password_hash: null,
      created_at: options.now,
    })
    await changeTree(trx, parent_id, { folders: 1, height: 1 })
    await changeTotals(trx, account, { folders: 1 })
    await noteChange(trx, account, { kind: 'folder.added', folder: identifier, place: parent_id })
    return id
  }
}

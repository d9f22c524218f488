import type { Trx } from '../../database/database.ts'
import type { AccountId, FolderId, FolderIdentifier } from '../../domain/ids.ts'
import { sortKey } from '../../domain/sort-key.ts'
import { folderById } from './folders.rows.ts'

/** In a transaction that has locked the account. */
export async function insertFolder(
  trx: Trx,
  folder: {
    identifier: FolderIdentifier
    account_id: AccountId
    parent_id: FolderId
    name: string
    is_public: 0 | 1
    password_hash: string | null
    created_at: number
  },
): Promise<{ id: FolderId }> {
  const isClosed = folder.is_public === 0 || folder.password_hash !== null
  const closing = isClosed ? await countClosing(trx, folder.account_id) : 0
  return trx
    .insertInto('folders')
    .values({ ...folder, name_sort: sortKey(folder.name), closing })
    .returning('id')
    .executeTakeFirstOrThrow()
}

/** In a transaction that has locked the account. */
export async function updateFolder(
  trx: Trx,
  id: FolderId,
  change: { name?: string; is_public?: 0 | 1; password_hash?: string | null; parent_id?: FolderId },
): Promise<void> {
  if (Object.keys(change).length === 0) return
  const before = await folderById(trx, id)
  const isClosing =
    (change.is_public === 0 && before.is_public === 1) || typeof change.password_hash === 'string'
  const closing = isClosing ? { closing: await countClosing(trx, before.account_id) } : {}
  const key = change.name === undefined ? {} : { name_sort: sortKey(change.name) }
  await trx
    .updateTable('folders')
    .set({ ...change, ...key, ...closing })
    .where('id', '=', id)
    .execute()
}

/** The number of a closing that the transaction, which has locked the account, is about to write. */
async function countClosing(trx: Trx, account: AccountId): Promise<number> {
  const row = await trx
    .updateTable('accounts')
    .set((accounts) => ({ closings: accounts('closings', '+', 1) }))
    .where('id', '=', account)
    .returning('closings')
    .executeTakeFirstOrThrow()
  return row.closings
}

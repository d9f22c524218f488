import { sql } from 'kysely'
import type { Queryable, Trx } from '../database/database.ts'
import { greatest } from '../database/differences.ts'
import { type AccountId, type FolderId, GUESTS, type LinkId } from '../domain/ids.ts'
import { sortKey } from '../domain/sort-key.ts'
import { wholeTreeOf } from '../files/folders/folders.rows.ts'
import type { TransferRow } from '../files/transfers.rows.ts'
import type { UploadRow } from './uploads.rows.ts'

/** Partial ones included. */
export function openUploadsOfTransfer(db: Queryable, folder: FolderId, most: number): Promise<UploadRow[]> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('transfer', '=', folder)
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .limit(most)
    .execute()
}

export async function revokeLinkOf(trx: Trx, link: LinkId, now: number): Promise<void> {
  await trx
    .updateTable('links')
    .set({ revoked_at: now })
    .where('id', '=', link)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Makes a guest's transfer the account's, and counts that as a use. Leaves totals and changes to the caller. */
export async function giveTransferRows(
  trx: Trx,
  { folder_id: folder, link_id: link }: TransferRow,
  to: {
    readonly account: AccountId
    readonly parent: FolderId
    readonly name: string
    readonly closing: number
    readonly now: number
  },
): Promise<void> {
  const { account, parent, name, closing, now } = to
  // Also removed files, which may come back.
  await trx
    .updateTable('files')
    .set({ account_id: account })
    .where('folder_id', 'in', wholeTreeOf(folder))
    .where('account_id', '=', GUESTS)
    .execute()
  await trx
    .updateTable('folders')
    .set({ account_id: account })
    .where('id', 'in', wholeTreeOf(folder))
    .execute()
  await trx
    .updateTable('folders')
    .set({ parent_id: parent, name, name_sort: sortKey(name), unique_name: 1, closing })
    .where('id', '=', folder)
    .execute()
  // Whoever knows an ended upload's address learns no more of its file than of others of the account.
  await trx
    .updateTable('uploads')
    .set({ account_id: account })
    .where('transfer', '=', folder)
    .where('ended_at', 'is not', null)
    .execute()
  await trx.updateTable('links').set({ account_id: account }).where('id', '=', link).execute()
  await trx
    .updateTable('link_events')
    .set({ account_id: sql<AccountId>`${account}` })
    .where('link_id', '=', link)
    .execute()
  await trx
    .updateTable('transfers')
    .set({ network: null, subnet: null, address: null, last_used_at: greatest(trx, 'last_used_at', now) })
    .where('folder_id', '=', folder)
    .execute()
  await trx.updateTable('accounts').set({ unused_since: 0 }).where('id', '=', account).execute()
}

/** Links that guests made. */
import type { Database, Trx } from '../../database/database.ts'
import { type AccountId, type FileId, GUESTS, type LinkId } from '../../domain/ids.ts'

/** False where it is revoked already, gone, or an account's. */
export async function revokeGuestLink(db: Database, id: LinkId, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('links')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('account_id', '=', GUESTS)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Makes guests' links to a file that the account has claimed links of the account, where nothing that they open is a
 * guest's any more. Until then they open the rest.
 */
export async function giveLinks(trx: Trx, file: FileId, account: AccountId): Promise<void> {
  await trx
    .updateTable('links')
    .set({ account_id: account })
    .where('account_id', '=', GUESTS)
    .where('id', 'in', (of) => of.selectFrom('link_targets').select('link_id').where('file_id', '=', file))
    .where((link) =>
      link.not(
        link.exists(
          link
            .selectFrom('link_targets')
            .innerJoin('files', 'files.id', 'link_targets.file_id')
            .whereRef('link_targets.link_id', '=', 'links.id')
            .where('files.account_id', '=', GUESTS)
            .where('files.removed_at', 'is', null)
            .select('link_targets.position'),
        ),
      ),
    )
    .execute()
}

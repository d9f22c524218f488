/** Links that guests made. */
import { type SqlBool, sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type AccountId, type FileId, GUESTS, type LinkId } from '../../domain/ids.ts'

/** Whether the link opens a guest's file that is still there. */
const opensGuestsFile = sql<SqlBool>`exists (
  select 1 from link_targets join files on files.id = link_targets.file_id
  where link_targets.link_id = links.id and files.account_id = ${GUESTS} and files.removed_at is null
)`

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
  const given = await trx
    .updateTable('links')
    .set({ account_id: account })
    .where('account_id', '=', GUESTS)
    .where('id', 'in', (of) => of.selectFrom('link_targets').select('link_id').where('file_id', '=', file))
    .where(({ not }) => not(opensGuestsFile))
    .returning('id')
    .execute()
  await giveLogs(trx, given)
}

/** The log of a link is its account's. */
async function giveLogs(trx: Trx, links: readonly { readonly id: LinkId }[]): Promise<void> {
  if (links.length === 0) return
  const ids = links.map(({ id }) => id)
  await trx
    .updateTable('link_events')
    .set({
      account_id: sql<AccountId>`(select account_id from links where links.id = link_events.link_id)`,
    })
    .where('link_id', 'in', ids)
    .execute()
}

/** The account of the first file that the link opens and that somebody has claimed; null where there is none. */
const claimant = sql<AccountId | null>`(
  select files.account_id from link_targets join files on files.id = link_targets.file_id
  where link_targets.link_id = links.id and files.removed_at is null order by link_targets.position limit 1
)`

/** Makes up to `most` links whose last file of a guest has gone links of whoever has claimed others; returns how many. */
export async function giveLeftLinks(db: Database, most: number): Promise<number> {
  const some = db
    .selectFrom('links')
    .select('id')
    .where('account_id', '=', GUESTS)
    .where(({ not }) => not(opensGuestsFile))
    .where(claimant, 'is not', null)
    .orderBy('id')
    .limit(most)
  return inTransaction(db, async (trx) => {
    const given = await trx
      .updateTable('links')
      .set({ account_id: sql<AccountId>`${claimant}` })
      .where('id', 'in', some)
      .returning('id')
      .execute()
    await giveLogs(trx, given)
    return given.length
  })
}

/** Deletes up to `most` links from before `time` of which nothing is left; returns how many. */
export async function dropEmptyGuestLinks(db: Database, time: number, most: number): Promise<number> {
  const some = db
    .selectFrom('links')
    .select('id')
    .where('account_id', '=', GUESTS)
    .where('created_at', '<', time)
    .where(({ not }) => not(opensGuestsFile))
    .orderBy('id')
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('links').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

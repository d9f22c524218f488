import { type SqlBool, sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type AccountId, type FileId, GUESTS, type LinkId } from '../domain/ids.ts'

const opensGuestsFile = sql<SqlBool>`exists (
  select 1 from link_targets join files on files.id = link_targets.file_id
  where link_targets.link_id = links.id and files.account_id = ${GUESTS} and files.removed_at is null
)`

export const isOfTransfer = sql<SqlBool>`exists (select 1 from transfers where transfers.link_id = links.id)`

/** False for a link that is revoked, gone, or an account's. */
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

/** Skips links that still open other guests' files. */
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

/** The account of the first claimed file that the link opens. */
const claimant = sql<AccountId | null>`(
  select files.account_id from link_targets join files on files.id = link_targets.file_id
  where link_targets.link_id = links.id and files.removed_at is null order by link_targets.position limit 1
)`

/** Gives up to `most` links without a guest's file left; returns how many. */
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

/** Deletes up to `most` from before `time` that open nothing; returns how many. */
export async function dropEmptyGuestLinks(db: Database, time: number, most: number): Promise<number> {
  const some = db
    .selectFrom('links')
    .select('id')
    .where('account_id', '=', GUESTS)
    .where('created_at', '<', time)
    .where('revoked_at', 'is', null)
    .where(({ not }) => not(opensGuestsFile))
    .where(({ not }) => not(isOfTransfer))
    .orderBy('id')
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('links').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

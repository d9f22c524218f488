import type { OwnedLink } from '../../core/link-events.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import { END_SOON_TOLD, END_TOLD, END_UNTOLD } from '../../domain/link-event.ts'

export type EndingLink = OwnedLink & { readonly ends_at: number }

export async function linksEnding(
  db: Database,
  before: number,
  what: 'soon' | 'over',
  most: number,
): Promise<EndingLink[]> {
  const links = db
    .selectFrom('links')
    .select(['id', 'account_id as account'])
    .select((link) => link.ref('ends_at').$notNull().as('ends_at'))
    .where('ends_at', 'is not', null)
    .where('ends_at', '<=', before)
    .where('revoked_at', 'is', null)
    .where('end_told', '<', END_TOLD)
    .orderBy('ends_at')
    .limit(most)
  return (what === 'soon' ? links.where('end_told', '=', END_UNTOLD) : links).execute()
}

/** Locks the link. False when its end was changed. */
export async function endsStill(trx: Trx, { id, ends_at }: EndingLink): Promise<boolean> {
  const row = await trx
    .selectFrom('links')
    .select('id')
    .where('id', '=', id)
    .where('ends_at', '=', ends_at)
    .where('revoked_at', 'is', null)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
  return row !== undefined
}

/** False when the end was notified or changed meanwhile. */
export async function noteEndSoon(trx: Trx, { id, ends_at }: EndingLink): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('links')
    .set({ end_told: END_SOON_TOLD })
    .where('id', '=', id)
    .where('ends_at', '=', ends_at)
    .where('revoked_at', 'is', null)
    .where('end_told', '=', END_UNTOLD)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

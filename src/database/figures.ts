import { sql } from 'kysely'
import { besideRequests } from './beside.ts'
import { wholeSum } from './differences.ts'
import type { Db } from './schema.ts'

export interface AccountTotals {
  /** Live files, and what they weigh. */
  readonly files: number
  readonly bytes: number
  /** Set aside for uploads under way. */
  readonly reserved: number
}

/** What all accounts have together: totals that are kept anyway, a row an account. */
export async function accountTotals(db: Db): Promise<AccountTotals> {
  const [row] = await besideRequests(
    db,
    db
      .selectFrom('accounts')
      .select([
        wholeSum(db, 'files_count').as('files'),
        wholeSum(db, 'storage_used').as('bytes'),
        wholeSum(db, 'storage_reserved').as('reserved'),
      ]),
  )
  return { files: row?.files ?? 0, bytes: row?.bytes ?? 0, reserved: row?.reserved ?? 0 }
}

/** Contents whose thumbnail is still to be made; answered by the index of those alone. */
export async function thumbnailsWaiting(db: Db): Promise<number> {
  const [row] = await besideRequests(
    db,
    db
      .selectFrom('thumbnails')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('state', '=', sql.lit('wanted')),
  )
  return row?.count ?? 0
}

/** Jobs that have failed at least so often in a row. */
export async function jobsFailing(db: Db, times: number): Promise<readonly string[]> {
  const rows = await db.selectFrom('jobs').select('name').where('failures', '>=', times).execute()
  return rows.map(({ name }) => name)
}

import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { wholeSum } from '../database/differences.ts'

export interface AccountTotals {
  readonly files: number
  readonly bytes: number
  readonly reserved: number
}

/** Costs one row per account. */
export async function accountTotals(db: Database): Promise<AccountTotals> {
  const [row] = await db.readPool.rows(
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

/** Answered by a partial index. */
export async function thumbnailsWaiting(db: Database): Promise<number> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('thumbnails')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('state', '=', sql.lit('wanted')),
  )
  return row?.count ?? 0
}

export async function jobsFailing(db: Database, times: number): Promise<readonly string[]> {
  const rows = await db.selectFrom('jobs').select('name').where('failures', '>=', times).execute()
  return rows.map(({ name }) => name)
}

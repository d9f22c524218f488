import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { wholeSum } from '../database/differences.ts'
import type { Row } from '../database/schema.ts'

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

/** Server statistics, one row per UTC day. */
export type DayRow = Row<'days'>

export type Traffic = Row<'days', 'requests' | 'bytes_in' | 'bytes_out' | 'uploads' | 'downloads'>

interface Sample {
  readonly accounts: number
  readonly files: number
  readonly storage_used: number
}

export async function addTraffic(db: Database, day: string, traffic: Traffic): Promise<void> {
  const added = (column: keyof Traffic) => sql<number>`${sql.ref(`days.${column}`)} + ${traffic[column]}`
  await db
    .insertInto('days')
    .values({ day, ...traffic })
    .onConflict((conflict) =>
      conflict.column('day').doUpdateSet({
        requests: added('requests'),
        bytes_in: added('bytes_in'),
        bytes_out: added('bytes_out'),
        uploads: added('uploads'),
        downloads: added('downloads'),
      }),
    )
    .execute()
}

export async function setSample(db: Database, day: string, sample: Sample): Promise<void> {
  await db
    .insertInto('days')
    .values({ day, ...sample })
    .onConflict((conflict) => conflict.column('day').doUpdateSet({ ...sample }))
    .execute()
}

export function daysSince(db: Database, day: string): Promise<DayRow[]> {
  return db.selectFrom('days').selectAll().where('day', '>=', day).orderBy('day').execute()
}

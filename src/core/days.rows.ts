/** Server statistics, one row per UTC day. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Row } from '../database/schema.ts'

export type DayRow = Row<'days'>

export type Traffic = Row<'days', 'requests' | 'bytes_in' | 'bytes_out' | 'uploads' | 'downloads'>

export interface Sample {
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

/** What happened on the whole server, day by day in UTC. */
import { type Selectable, sql } from 'kysely'
import type { Db, Tables } from './schema.ts'

export type DayRow = Readonly<Selectable<Tables['days']>>

/** What is counted as it happens. */
export interface Traffic {
  readonly requests: number
  readonly bytes_in: number
  readonly bytes_out: number
  readonly uploads: number
  readonly downloads: number
}

/** What is looked at now and then. */
export interface Sample {
  readonly accounts: number
  readonly files: number
  readonly storage_used: number
}

/** Adds to what the day has. */
export async function addTraffic(db: Db, day: string, traffic: Traffic): Promise<void> {
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

/** Takes the place of the day's earlier sample. */
export async function setSample(db: Db, day: string, sample: Sample): Promise<void> {
  await db
    .insertInto('days')
    .values({ day, ...sample })
    .onConflict((conflict) => conflict.column('day').doUpdateSet({ ...sample }))
    .execute()
}

/** The days of which something is known, from that one on. */
export function daysSince(db: Db, day: string): Promise<DayRow[]> {
  return db.selectFrom('days').selectAll().where('day', '>=', day).orderBy('day').execute()
}

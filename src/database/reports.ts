import type { Selectable } from 'kysely'
import type { ReportId } from '../domain/ids.ts'
import type { ReportState } from '../domain/report.ts'
import type { Db, Tables } from './schema.ts'

export type ReportRow = Omit<Selectable<Tables['reports']>, 'reporter'>

const columns = [
  'id',
  'file_id',
  'slug',
  'name',
  'sha256',
  'reason',
  'text',
  'created_at',
  'state',
  'closed_at',
] as const

/**
 * Keeps the report. A second one of the same reporter takes the place of the first, unless that is closed already; a
 * text is not given up for none.
 */
export async function keepReport(
  db: Db,
  report: Omit<ReportRow, 'id' | 'state' | 'closed_at'> & { readonly reporter: string },
): Promise<void> {
  await db
    .insertInto('reports')
    .values({ ...report, closed_at: null })
    .onConflict((conflict) =>
      conflict
        .column('reporter')
        .doUpdateSet({
          reason: (row) => row.ref('excluded.reason'),
          text: (row) => row.fn.coalesce('excluded.text', 'reports.text'),
        })
        .where('reports.closed_at', 'is', null),
    )
    .execute()
}

/** The newest first. */
export function listReports(db: Db, which: 'open' | 'all'): Promise<ReportRow[]> {
  const all = db.selectFrom('reports').select(columns).orderBy('id', 'desc')
  return (which === 'all' ? all : all.where('closed_at', 'is', null)).execute()
}

export function findReport(db: Db, id: ReportId): Promise<ReportRow | undefined> {
  return db.selectFrom('reports').select(columns).where('id', '=', id).executeTakeFirst()
}

/** Does nothing to one that is closed already. */
export async function closeReport(
  db: Db,
  id: ReportId,
  state: Exclude<ReportState, 'open'>,
  time: number,
): Promise<void> {
  await db
    .updateTable('reports')
    .set({ state, closed_at: time })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .execute()
}

/** Forgets who has reported before `time`, for up to `most` reports, and tells for how many. */
export async function forgetReporters(db: Db, time: number, most: number): Promise<number> {
  const some = db
    .selectFrom('reports')
    .select('id')
    .where('reporter', 'is not', null)
    .where('created_at', '<', time)
    .orderBy('created_at')
    .limit(most)
  const { numUpdatedRows } = await db
    .updateTable('reports')
    .set({ reporter: null })
    .where('id', 'in', some)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Drops up to `most` reports that were closed until `time`, and tells how many. */
export async function dropClosedReports(db: Db, time: number, most: number): Promise<number> {
  const some = db
    .selectFrom('reports')
    .select('id')
    .where('closed_at', '<=', time)
    .orderBy('closed_at')
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('reports').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

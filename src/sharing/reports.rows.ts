import type { Selectable } from 'kysely'
import type { Database, Queryable } from '../database/database.ts'
import type { Tables } from '../database/schema.ts'
import type { ReportId, Sha256 } from '../domain/ids.ts'
import type { ReportState } from '../domain/report.ts'

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

/** A reporter's second report replaces an open first one; an empty text does not replace the first one's. */
export async function keepReport(
  db: Database,
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

export function listReports(db: Database, which: 'open' | 'all'): Promise<ReportRow[]> {
  const all = db.selectFrom('reports').select(columns).orderBy('id', 'desc')
  return (which === 'all' ? all : all.where('closed_at', 'is', null)).execute()
}

export function findReport(db: Database, id: ReportId): Promise<ReportRow | undefined> {
  return db.selectFrom('reports').select(columns).where('id', '=', id).executeTakeFirst()
}

/** False for a closed report. */
export async function closeReport(
  db: Queryable,
  id: ReportId,
  state: Exclude<ReportState, 'open'>,
  time: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('reports')
    .set({ state, closed_at: time })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function forgetReporters(db: Database, time: number, most: number): Promise<number> {
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

export async function dropClosedReports(db: Database, time: number, most: number): Promise<number> {
  const some = db
    .selectFrom('reports')
    .select('id')
    .where('closed_at', '<=', time)
    .orderBy('closed_at')
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('reports').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

export type ReportSelection = 'open' | 'closed' | 'all'

function selected(db: Database, which: ReportSelection) {
  const all = db.selectFrom('reports')
  if (which === 'all') return all
  return all.where('closed_at', which === 'open' ? 'is' : 'is not', null)
}

export function pageOfReports(
  db: Database,
  which: ReportSelection,
  offset: number,
  limit: number,
): Promise<ReportRow[]> {
  return db.readPool.rows(
    selected(db, which).select(columns).orderBy('id', 'desc').limit(limit).offset(offset),
  )
}

export async function countReports(db: Database, which: ReportSelection): Promise<number> {
  const count = selected(db, which).select((row) => row.fn.countAll<number>().as('count'))
  return (await db.readPool.rows(count))[0]?.count ?? 0
}

export async function closeReportsOn(
  db: Queryable,
  sha256: Sha256,
  state: Exclude<ReportState, 'open'>,
  time: number,
  most: number,
): Promise<number> {
  const some = db
    .selectFrom('reports')
    .select('id')
    .where('sha256', '=', sha256)
    .where('closed_at', 'is', null)
    .limit(most)
  const { numUpdatedRows } = await db
    .updateTable('reports')
    .set({ state, closed_at: time })
    .where('id', 'in', some)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

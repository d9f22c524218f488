import type { Database, Trx } from '../database/database.ts'
import type { Row } from '../database/schema.ts'
import type { Act } from '../domain/audit.ts'

export type AuditRow = Row<'audit_log'>

/** Appends to the log. Rows are never changed or removed. */
export async function insertAudit(trx: Trx, row: Omit<AuditRow, 'id'>): Promise<void> {
  await trx.insertInto('audit_log').values(row).execute()
}

/** Entries from newest to oldest. `act` null: entries of every kind. */
export function listAudit(db: Database, act: Act | null, offset: number, limit: number): Promise<AuditRow[]> {
  const all = db.selectFrom('audit_log').selectAll()
  const some = act === null ? all : all.where('act', '=', act)
  return db.readPool.rows(some.orderBy('id', 'desc').limit(limit).offset(offset))
}

export async function countAudit(db: Database, act: Act | null): Promise<number> {
  const all = db.selectFrom('audit_log').select((row) => row.fn.countAll<number>().as('count'))
  const [row] = await db.readPool.rows(act === null ? all : all.where('act', '=', act))
  return row?.count ?? 0
}

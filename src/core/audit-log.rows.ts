import type { Database, Trx } from '../database/database.ts'
import type { Row } from '../database/schema.ts'
import type { Act } from '../domain/audit.ts'
import type { AccountId } from '../domain/ids.ts'

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

/** The time of the account's latest entry of that kind. */
export async function lastAuditOf(trx: Trx, act: Act, account: AccountId): Promise<number | null> {
  const row = await trx
    .selectFrom('audit_log')
    .select('at')
    .where('account_id', '=', account)
    .where('act', '=', act)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}

/** The time of the entry of that kind that has `later` newer ones. */
export async function auditBefore(trx: Trx, act: Act, later: number): Promise<number | null> {
  const row = await trx
    .selectFrom('audit_log')
    .select('at')
    .where('act', '=', act)
    .orderBy('id', 'desc')
    .offset(later)
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}

export async function countAudit(db: Database, act: Act | null): Promise<number> {
  const all = db.selectFrom('audit_log').select((row) => row.fn.countAll<number>().as('count'))
  const [row] = await db.readPool.rows(act === null ? all : all.where('act', '=', act))
  return row?.count ?? 0
}

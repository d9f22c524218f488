import type { Selectable } from 'kysely'
import type { Act } from '../domain/audit.ts'
import { besideRequests } from './beside.ts'
import type { Db, Tables } from './schema.ts'

export type AuditRow = Readonly<Selectable<Tables['audit_log']>>

/** Adds to the log. What is there can neither be changed nor removed. */
export async function insertAudit(trx: Db, row: Omit<AuditRow, 'id'>): Promise<void> {
  await trx.insertInto('audit_log').values(row).execute()
}

/** The newest first. `act` null: of every kind. */
export function listAudit(db: Db, act: Act | null, offset: number, limit: number): Promise<AuditRow[]> {
  const all = db.selectFrom('audit_log').selectAll()
  const some = act === null ? all : all.where('act', '=', act)
  return besideRequests(db, some.orderBy('id', 'desc').limit(limit).offset(offset))
}

export async function countAudit(db: Db, act: Act | null): Promise<number> {
  const all = db.selectFrom('audit_log').select((row) => row.fn.countAll<number>().as('count'))
  const [row] = await besideRequests(db, act === null ? all : all.where('act', '=', act))
  return row?.count ?? 0
}

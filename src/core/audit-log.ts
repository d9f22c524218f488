import type { Database, Trx } from '../database/database.ts'
import type { Act, Actor, AuditedAction } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { type AuditRow, countAudit, insertAudit, listAudit } from './audit-log.rows.ts'

/** Logs an action in the transaction that performs it: both commit or neither does. */
export async function recordAuditEntry(
  trx: Trx,
  clock: Clock,
  actor: Actor,
  action: AuditedAction,
): Promise<void> {
  const isKnown = actor.kind !== 'command line'
  await insertAudit(trx, {
    at: clock.now(),
    account_id: isKnown ? actor.account : null,
    username: isKnown ? actor.username : null,
    address: isKnown ? actor.address : null,
    act: action.act,
    object: action.object,
    details: JSON.stringify(action.details ?? {}),
  })
}

export type AuditEntry = AuditRow

/** Read access to the audit log, which is append-only. */
export interface AuditLog {
  /** One page of entries from newest to oldest. `act` null: entries of every kind. */
  list(
    act: Act | null,
    page: number,
    perPage: number,
  ): Promise<{ readonly entries: readonly AuditEntry[]; readonly total: number }>
}

export function createAuditLog(db: Database): AuditLog {
  return {
    async list(act, page, perPage) {
      const entries = await listAudit(db, act, (page - 1) * perPage, perPage)
      return { entries, total: await countAudit(db, act) }
    },
  }
}

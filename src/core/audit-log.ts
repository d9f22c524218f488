import { type AuditRecord, auditDetails } from '../contract/administration.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAudit } from '../database/differences.ts'
import type { Row } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Act, Actor, AuditedAction, AuditOwner, Stranger } from '../domain/audit.ts'
import { type Clock, DAY, MINUTE, timestamp } from '../domain/clock.ts'
import type { RefusedTry } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'

/** Logs an action in the transaction that performs it: both commit or neither does. */
export async function recordAuditEntry(
  trx: Trx,
  clock: Clock,
  actor: Actor,
  action: AuditedAction,
): Promise<void> {
  const isKnown = actor.kind === 'administrator' || actor.kind === 'owner'
  await insertAudit(trx, {
    at: clock.now(),
    account_id: isKnown ? actor.account : null,
    username: isKnown ? actor.username : null,
    address: actor.kind === 'command line' ? null : actor.address,
    act: action.act,
    object: action.object,
    details: JSON.stringify(action.details ?? {}),
  })
}

/** Rows can never be removed, so strangers and programs must not be able to add any number. */
const SIGN_INS_EVERY = 10 * MINUTE
export const LOCK_OUTS_A_DAY = 1000

/**
 * Logs that the owner has signed in, `by` that method, unless an entry of the last ten minutes says so. The
 * account must be locked.
 */
export async function recordSignIn(trx: Trx, clock: Clock, owner: AuditOwner, by: string): Promise<void> {
  const last = await lastAuditOf(trx, 'account.signed_in', owner.account)
  if (isWithin(SIGN_INS_EVERY, clock, last)) return
  await recordAuditEntry(trx, clock, owner, {
    act: 'account.signed_in',
    object: owner.username,
    details: { by },
  })
}

/** Logs that tries of a secret are locked, unless so many entries of the last 24 hours say so for others. */
export async function recordLockOut(
  db: Database,
  clock: Clock,
  who: AuditOwner | Stranger,
  { secret, username }: RefusedTry,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAudit(trx)
    if (isWithin(DAY, clock, await auditBefore(trx, 'tries.locked', LOCK_OUTS_A_DAY - 1))) return
    const details: AuditedAction['details'] = username === null ? {} : { of: secret }
    await recordAuditEntry(trx, clock, who, { act: 'tries.locked', object: username ?? secret, details })
  })
}

/** A time in the future is one of a clock that was wrong. */
function isWithin(length: number, clock: Clock, time: number | null): boolean {
  return time !== null && Math.abs(clock.now() - time) < length
}

/** As the API and the command line tell it. */
function recordOf({ account_id, username, at, details, ...entry }: AuditRow): AuditRecord {
  return {
    ...entry,
    at: timestamp(at),
    account: account_id === null ? null : { id: account_id, username: username ?? '' },
    details: auditDetails.parse(JSON.parse(details)),
  }
}

/** Read access to the audit log, which is append-only. */
export interface AuditLog {
  /** One page of entries from newest to oldest. `act` null: entries of every kind. */
  list(
    act: Act | null,
    page: number,
    perPage: number,
  ): Promise<{ readonly entries: readonly AuditRecord[]; readonly total: number }>
}

export function createAuditLog(db: Database): AuditLog {
  return {
    async list(act, page, perPage) {
      const entries = await listAudit(db, act, (page - 1) * perPage, perPage)
      return { entries: entries.map(recordOf), total: await countAudit(db, act) }
    },
  }
}

type AuditRow = Row<'audit_log'>

/** Appends to the log. Rows are never changed or removed. */
async function insertAudit(trx: Trx, row: Omit<AuditRow, 'id'>): Promise<void> {
  await trx.insertInto('audit_log').values(row).execute()
}

/** Entries from newest to oldest. `act` null: entries of every kind. */
function listAudit(db: Database, act: Act | null, offset: number, limit: number): Promise<AuditRow[]> {
  const all = db.selectFrom('audit_log').selectAll()
  const some = act === null ? all : all.where('act', '=', act)
  return db.readPool.rows(some.orderBy('id', 'desc').limit(limit).offset(offset))
}

/** The time of the account's latest entry of that kind. */
async function lastAuditOf(trx: Trx, act: Act, account: AccountId): Promise<number | null> {
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
async function auditBefore(trx: Trx, act: Act, later: number): Promise<number | null> {
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

async function countAudit(db: Database, act: Act | null): Promise<number> {
  const all = db.selectFrom('audit_log').select((row) => row.fn.countAll<number>().as('count'))
  const [row] = await db.readPool.rows(act === null ? all : all.where('act', '=', act))
  return row?.count ?? 0
}

import type { Database, Queryable, Trx } from '../../database/database.ts'
import { hiddenFromSqlite } from '../../database/differences.ts'
import { prepared } from '../../database/prepared.ts'
import type { Row } from '../../database/schema.ts'
import type { AccountId, SessionId, Sha256 } from '../../domain/ids.ts'

export interface SessionHolder {
  readonly session: SessionId
  readonly account: AccountId
  readonly username: string
  readonly is_admin: 0 | 1
  readonly disabled_at: number | null
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number
  readonly proved_at: number | null
}

const sessionHolder = prepared((db, hash: Sha256) =>
  db
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select([
      'sessions.id as session',
      'sessions.account_id as account',
      'accounts.username',
      'accounts.is_admin',
      'accounts.disabled_at',
      'sessions.created_at',
      'sessions.updated_at',
      'sessions.expires_at',
      'sessions.proved_at',
    ])
    .where('sessions.token_hash', '=', hiddenFromSqlite(db, hash)),
)

/** Includes expired sessions. */
export async function findSessionHolder(db: Database, hash: Sha256): Promise<SessionHolder | undefined> {
  return (await sessionHolder(db, hash))[0]
}

const sessionHolderById = prepared((db, session: SessionId) =>
  db
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select(['sessions.account_id as account', 'sessions.expires_at'])
    .where('sessions.id', '=', hiddenFromSqlite(db, session))
    .where('accounts.disabled_at', 'is', null),
)

/** Null for an expired session or a disabled account. */
export async function sessionHolderNow(
  db: Database,
  session: SessionId,
  now: number,
): Promise<AccountId | null> {
  const [row] = await sessionHolderById(db, session)
  return row === undefined || row.expires_at <= now ? null : row.account
}

export async function insertSession(
  trx: Trx,
  session: Omit<Row<'sessions'>, 'id' | 'proved_at'>,
): Promise<void> {
  await trx.insertInto('sessions').values(session).execute()
}

export async function setSessionUsed(
  db: Database,
  id: SessionId,
  used: { updated_at: number; expires_at: number },
): Promise<void> {
  await db.updateTable('sessions').set(used).where('id', '=', id).execute()
}

export async function setSessionProved(db: Queryable, id: SessionId, at: number): Promise<void> {
  await db.updateTable('sessions').set({ proved_at: at }).where('id', '=', id).execute()
}

export type SessionRow = Row<'sessions', 'id' | 'user_agent' | 'created_at' | 'updated_at'>

export function listSessions(db: Database, account: AccountId, now: number): Promise<SessionRow[]> {
  return db
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'created_at', 'updated_at'])
    .where('account_id', '=', account)
    .where('expires_at', '>', now)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export async function endSession(db: Queryable, account: AccountId, id: SessionId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export async function endSessions(
  db: Queryable,
  account: AccountId,
  kept: SessionId | null,
): Promise<number> {
  const all = db.deleteFrom('sessions').where('account_id', '=', account)
  const ended = kept === null ? all : all.where('id', '<>', kept)
  return Number((await ended.executeTakeFirstOrThrow()).numDeletedRows)
}

export async function endAllSessions(trx: Trx): Promise<void> {
  await trx.deleteFrom('sessions').execute()
  await trx.deleteFrom('verifications').execute()
}

export async function dropEnded(db: Database, now: number, limit: number): Promise<number> {
  let dropped = 0
  for (const table of ['sessions', 'verifications'] as const) {
    const over = db.selectFrom(table).select('id').where('expires_at', '<=', now).limit(limit)
    const { numDeletedRows } = await db.deleteFrom(table).where('id', 'in', over).executeTakeFirstOrThrow()
    dropped += Number(numDeletedRows)
  }
  return dropped
}

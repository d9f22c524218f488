import type { AccountId, SessionId, Sha256 } from '../domain/ids.ts'
import { prepared } from './prepared.ts'
import type { Db } from './schema.ts'

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
    .where('sessions.token_hash', '=', hash),
)

/** Who holds the session, which may be over. */
export async function findSessionHolder(db: Db, hash: Sha256): Promise<SessionHolder | undefined> {
  return (await sessionHolder(db, hash))[0]
}

const sessionHolderById = prepared((db, session: SessionId) =>
  db
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select(['sessions.account_id as account', 'sessions.expires_at'])
    .where('sessions.id', '=', session)
    .where('accounts.disabled_at', 'is', null),
)

/** Whose session it is, while it counts: not once it is over, or its account is disabled. */
export async function sessionHolderNow(db: Db, session: SessionId, now: number): Promise<AccountId | null> {
  const [row] = await sessionHolderById(db, session)
  return row === undefined || row.expires_at <= now ? null : row.account
}

export async function setSessionUsed(
  db: Db,
  id: SessionId,
  used: { updated_at: number; expires_at: number },
): Promise<void> {
  await db.updateTable('sessions').set(used).where('id', '=', id).execute()
}

/** Notes that the person of the session has shown who they are. */
export async function setSessionProved(db: Db, id: SessionId, at: number): Promise<void> {
  await db.updateTable('sessions').set({ proved_at: at }).where('id', '=', id).execute()
}

export interface SessionRow {
  readonly id: SessionId
  readonly user_agent: string | null
  readonly created_at: number
  readonly updated_at: number
}

/** Those that are not over, the one used last first. */
export function listSessions(db: Db, account: AccountId, now: number): Promise<SessionRow[]> {
  return db
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'created_at', 'updated_at'])
    .where('account_id', '=', account)
    .where('expires_at', '>', now)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Ends that session of the account; false when it has none of that number. */
export async function endSession(db: Db, account: AccountId, id: SessionId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Ends all sessions of the account but the one that is kept, if one is. */
export async function endSessions(trx: Db, account: AccountId, kept: SessionId | null): Promise<number> {
  const all = trx.deleteFrom('sessions').where('account_id', '=', account)
  const ended = kept === null ? all : all.where('id', '<>', kept)
  return Number((await ended.executeTakeFirstOrThrow()).numDeletedRows)
}

/** Ends every session there is, and every ceremony that is half done. */
export async function endAllSessions(trx: Db): Promise<void> {
  await trx.deleteFrom('sessions').execute()
  await trx.deleteFrom('verifications').execute()
}

/** Removes rows of sessions and of half-done ceremonies that are over, at most `limit` of each. */
export async function dropEnded(db: Db, now: number, limit: number): Promise<number> {
  let dropped = 0
  for (const table of ['sessions', 'verifications'] as const) {
    const over = db.selectFrom(table).select('id').where('expires_at', '<=', now).limit(limit)
    const { numDeletedRows } = await db.deleteFrom(table).where('id', 'in', over).executeTakeFirstOrThrow()
    dropped += Number(numDeletedRows)
  }
  return dropped
}

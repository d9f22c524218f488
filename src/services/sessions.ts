import type { Db } from '../database/schema.ts'
import {
  dropEnded,
  endSession,
  endSessions,
  findSessionHolder,
  listSessions,
  setSessionProved,
  setSessionUsed,
} from '../database/sessions.ts'
import { hashToken } from '../database/token-hash.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { SessionId } from '../domain/ids.ts'
import { SCOPES } from '../domain/scopes.ts'
import type { SessionCaller } from './caller.ts'
import { SESSION_ENDS, SESSION_LASTS } from './signing-in-terms.ts'

export interface SessionInfo {
  readonly id: SessionId
  readonly userAgent: string | null
  readonly createdAt: number
  /** To the hour. */
  readonly lastUsedAt: number
  readonly isThis: boolean
}

/** Browsers that are signed in. Asked with every request, so that a session that was ended is refused by the next one. */
export interface Sessions {
  /** Whose session it is. Throws Refusal NOT_SIGNED_IN, or ACCOUNT_DISABLED. */
  authenticate(token: string): Promise<SessionCaller>
  list(caller: SessionCaller): Promise<SessionInfo[]>
  /** Notes that the caller has just shown who they are. */
  prove(caller: SessionCaller): Promise<void>
  /** Ends one of the account's sessions, be it the caller's own. Throws Refusal NOT_FOUND. */
  end(caller: SessionCaller, id: SessionId): Promise<void>
  /** Ends all but the caller's; returns how many. */
  endOthers(caller: SessionCaller): Promise<number>
  /** Removes what is over. */
  dropEnded(mayGoOn: () => boolean): Promise<void>
}

/** How often it is written that a session is used. */
const WRITTEN_EVERY = HOUR
/** Rows that one statement removes. */
const STEP = 500

export function createSessions(db: Db, clock: Clock): Sessions {
  return {
    async authenticate(token) {
      const holder = await findSessionHolder(db, hashToken(token))
      const now = clock.now()
      if (holder === undefined) throw signedOut()
      const ends = holder.created_at + SESSION_ENDS
      if (Math.min(holder.expires_at, ends) <= now) throw signedOut()
      if (holder.disabled_at !== null) {
        throw new Refusal('ACCOUNT_DISABLED', 'This account is disabled; ask whoever runs this server')
      }
      if (now - holder.updated_at >= WRITTEN_EVERY) {
        await setSessionUsed(db, holder.session, {
          updated_at: now,
          expires_at: Math.min(now + SESSION_LASTS, ends),
        })
      }
      const { account, username, session, is_admin, created_at, proved_at } = holder
      return {
        kind: 'account',
        account,
        username,
        by: { kind: 'session', session, isAdmin: is_admin === 1, provedAt: proved_at ?? created_at },
        scopes: SCOPES,
        within: null,
        expiresAt: null,
      }
    },

    prove: ({ by }) => setSessionProved(db, by.session, clock.now()),

    async list({ account, by }) {
      const rows = await listSessions(db, account, clock.now())
      return rows.map((row) => ({
        id: row.id,
        userAgent: row.user_agent,
        createdAt: row.created_at,
        lastUsedAt: row.updated_at,
        isThis: row.id === by.session,
      }))
    },

    async end({ account }, id) {
      if (!(await endSession(db, account, id))) throw new Refusal('NOT_FOUND', 'There is no such session')
    },

    endOthers: ({ account, by }) => endSessions(db, account, by.session),

    async dropEnded(mayGoOn) {
      while (mayGoOn() && (await dropEnded(db, clock.now(), STEP)) >= STEP);
    },
  }
}

export function signedOut(): Refusal {
  return new Refusal('NOT_SIGNED_IN', 'You are signed out; sign in again')
}

import { recordAuditEntry } from '../../core/audit-log.ts'
import type { SessionCaller } from '../../core/callers.ts'
import { hashToken } from '../../core/hmac.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { SCOPES } from '../../domain/access.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { SessionId } from '../../domain/ids.ts'
import {
  dropEnded,
  endSession,
  endSessions,
  findSessionHolder,
  listSessions,
  setSessionProved,
  setSessionUsed,
} from './sessions.rows.ts'
import { REAUTHENTICATION_LASTS, SESSION_ENDS, SESSION_LASTS } from './sign-in-terms.ts'

export type ReauthenticationMethod = 'password' | 'passkey' | 'OpenID Connect'

export interface SessionInfo {
  readonly id: SessionId
  readonly userAgent: string | null
  readonly createdAt: number
  /** To the hour. */
  readonly lastUsedAt: number
  readonly isThis: boolean
}

/** Looked up at every request, so that an ended session is refused from the next request on. */
export interface Sessions {
  /** Throws Refusal NOT_SIGNED_IN, or ACCOUNT_DISABLED. */
  authenticate(token: string, address: string): Promise<SessionCaller>
  list(caller: SessionCaller): Promise<SessionInfo[]>
  /** Audited only when the previous one no longer counts: at most once in ten minutes per session. */
  prove(caller: SessionCaller, by: ReauthenticationMethod): Promise<void>
  /** May be the caller's own. Throws Refusal NOT_FOUND. */
  end(caller: SessionCaller, id: SessionId): Promise<void>
  endOthers(caller: SessionCaller): Promise<number>
  dropEnded(mayGoOn: () => boolean): Promise<void>
}

const WRITTEN_EVERY = HOUR
const STEP = 500

export function createSessions(db: Database, clock: Clock): Sessions {
  return {
    async authenticate(token, address) {
      const holder = await findSessionHolder(db, hashToken(token))
      const now = clock.now()
      if (holder === undefined) throw signedOut()
      const ends = holder.created_at + SESSION_ENDS
      if (Math.min(holder.expires_at, ends) <= now) throw signedOut()
      if (holder.disabled_at !== null) throw accountDisabled()
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
        by: {
          kind: 'session',
          session,
          isAdmin: is_admin === 1,
          provedAt: proved_at ?? created_at,
          address,
        },
        scopes: SCOPES,
        within: null,
        expiresAt: null,
      }
    },

    prove: ({ account, username, by }, proof) =>
      inTransaction(db, async (trx) => {
        const now = clock.now()
        await setSessionProved(trx, by.session, now)
        if (now < by.provedAt + REAUTHENTICATION_LASTS) return
        const owner = { kind: 'owner', account, username, address: by.address } as const
        await recordAuditEntry(trx, clock, owner, {
          act: 'identity.proved',
          object: username,
          details: { by: proof },
        })
      }),

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

export function accountDisabled(): Refusal {
  return new Refusal('ACCOUNT_DISABLED', 'This account is disabled; ask whoever runs this server')
}

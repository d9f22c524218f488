import type { SessionCaller } from '../../core/callers.ts'
import { verifyPassword } from '../../core/password-hash.ts'
import { tryOnce } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { Call } from '../../server/call.ts'
import { findPassword } from './passwords.ts'
import { REAUTHENTICATION_LASTS, type Sessions, signedOut } from './sessions.ts'

/** Attempts per session and hour; per session, so that a stolen one cannot lock out the others. */
const TRIES = 10

/**
 * Re-authentication before actions whose effects outlast the session, so that a stolen session cannot perform
 * them: by password, passkey or OpenID Connect, at most ten minutes ago. Signing in counts.
 */
export function createReauthentication(db: Database, rates: RateLimits, clock: Clock, sessions: Sessions) {
  /** Throws Refusal REAUTHENTICATION_REQUIRED. */
  function assertRecent({ by }: SessionCaller): void {
    if (clock.now() < by.provedAt + REAUTHENTICATION_LASTS) return
    throw new Refusal(
      'REAUTHENTICATION_REQUIRED',
      'Show once more that it is you: POST the password of the account to /api/v1/session/proof, or use a passkey or the other server, and repeat this within ten minutes',
    )
  }

  /**
   * Re-authenticates by password. Throws Refusal WRONG_PASSWORD, also for an account without one, or
   * RATE_LIMITED.
   */
  async function withPassword(caller: SessionCaller, password: string): Promise<void> {
    const windows = [{ subject: `confirm:${caller.by.session}`, limit: TRIES, length: HOUR }] as const
    const message = 'Too many wrong passwords; wait a while and try again'
    const tried = { secret: 'sign-in', username: caller.username } as const
    await tryOnce(rates, windows, { message, tried }, async () => {
      const hash = await findPassword(db, caller.account)
      if (hash !== null && (await verifyPassword(password, hash))) return
      throw wrongSecret('WRONG_PASSWORD', 'Wrong password; check it and try again', tried.secret)
    })
    await sessions.prove(caller, 'password')
  }

  return {
    /** End of the period without re-authentication. Milliseconds since the epoch; may have passed. */
    provedUntil: ({ by }: SessionCaller): number => by.provedAt + REAUTHENTICATION_LASTS,

    assertRecent,
    withPassword,

    /** `withPassword` if a password is given, else `assertRecent`. Throws what they throw. */
    async confirm(caller: SessionCaller, password: string | null): Promise<void> {
      if (password === null) assertRecent(caller)
      else await withPassword(caller, password)
    },
  }
}

export type Reauthentication = ReturnType<typeof createReauthentication>

/**
 * For effects that outlast the session. Throws Refusal REAUTHENTICATION_REQUIRED ten minutes after the last
 * authentication, and NOT_SIGNED_IN without a session.
 */
export function assertRecentAuthentication(
  { caller }: Call,
  reauthentication: Pick<Reauthentication, 'assertRecent'>,
): void {
  if (caller?.kind !== 'account' || caller.by.kind !== 'session') throw signedOut()
  const session: SessionCaller = { ...caller, by: caller.by }
  reauthentication.assertRecent(session)
}

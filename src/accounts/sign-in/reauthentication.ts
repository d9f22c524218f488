import type { SessionCaller } from '../../core/callers.ts'
import { verifyPassword } from '../../core/password-hash.ts'
import { tryOnce } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import { findPassword } from './identities.rows.ts'
import type { Sessions } from './sessions.ts'
import { REAUTHENTICATION_LASTS } from './sign-in-terms.ts'

/**
 * Re-authentication before actions whose effects outlast the session, so that a stolen session cannot perform
 * them: by password, passkey or OpenID Connect, at most ten minutes ago. Signing in counts.
 */
export interface Reauthentication {
  /** End of the period without re-authentication. Milliseconds since the epoch; may have passed. */
  provedUntil(caller: SessionCaller): number
  /** Throws Refusal REAUTHENTICATION_REQUIRED. */
  assertRecent(caller: SessionCaller): void
  /**
   * Re-authenticates by password. Throws Refusal WRONG_PASSWORD, also for an account without one, or
   * RATE_LIMITED.
   */
  withPassword(caller: SessionCaller, password: string): Promise<void>
  /** `withPassword` if a password is given, else `assertRecent`. Throws what they throw. */
  confirm(caller: SessionCaller, password: string | null): Promise<void>
}

/** Attempts per session and hour; per session, so that a stolen one cannot lock out the others. */
const TRIES = 10

export function createReauthentication(
  db: Database,
  rates: RateLimits,
  clock: Clock,
  sessions: Sessions,
): Reauthentication {
  function assertRecent({ by }: SessionCaller): void {
    if (clock.now() < by.provedAt + REAUTHENTICATION_LASTS) return
    throw new Refusal(
      'REAUTHENTICATION_REQUIRED',
      'Show once more that it is you: POST the password of the account to /api/v1/session/proof, or use a passkey or the other server, and repeat this within ten minutes',
    )
  }

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
    provedUntil: ({ by }) => by.provedAt + REAUTHENTICATION_LASTS,
    assertRecent,
    withPassword,
    async confirm(caller, password) {
      if (password === null) assertRecent(caller)
      else await withPassword(caller, password)
    },
  }
}

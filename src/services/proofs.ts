import { findPassword } from '../database/identities.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, HOUR, MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { SessionCaller } from './caller.ts'
import { verifyPassword } from './passwords.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Sessions } from './sessions.ts'
import { tryOnce } from './tries.ts'

/**
 * Makes sure that it is still the owner who sits there, before something is made or changed that outlasts the session:
 * by the password, a passkey or the other server, at the latest ten minutes ago. Signing in counts.
 */
export interface Proofs {
  /** Until when the caller is asked for nothing. Milliseconds since the epoch; may be over. */
  provedUntil(caller: SessionCaller): number
  /** Throws Refusal REAUTHENTICATION_REQUIRED. */
  assertRecent(caller: SessionCaller): void
  /** Throws Refusal WRONG_PASSWORD, also for an account without one, or RATE_LIMITED. */
  withPassword(caller: SessionCaller, password: string): Promise<void>
  /** By the password where one is given, else as `assertRecent`. Throws what they throw. */
  confirm(caller: SessionCaller, password: string | null): Promise<void>
}

const LASTS = 10 * MINUTE
/** Of one session in an hour: whoever has got hold of one locks no other. */
const TRIES = 10

export function createProofs(db: Db, rates: RateLimits, clock: Clock, sessions: Sessions): Proofs {
  function assertRecent({ by }: SessionCaller): void {
    if (clock.now() < by.provedAt + LASTS) return
    throw new Refusal(
      'REAUTHENTICATION_REQUIRED',
      'Show once more that it is you: POST the password of the account to /api/v1/session/proof, or use a passkey or the other server, and repeat this within ten minutes',
    )
  }

  async function withPassword(caller: SessionCaller, password: string): Promise<void> {
    const windows = [{ subject: `confirm:${caller.by.session}`, limit: TRIES, length: HOUR }] as const
    await tryOnce(rates, windows, 'Too many wrong passwords; wait a while and try again', async () => {
      const hash = await findPassword(db, caller.account)
      if (hash !== null && (await verifyPassword(password, hash))) return
      throw new Refusal('WRONG_PASSWORD', 'Wrong password; check it and try again')
    })
    await sessions.prove(caller)
  }

  return {
    provedUntil: ({ by }) => by.provedAt + LASTS,
    assertRecent,
    withPassword,
    async confirm(caller, password) {
      if (password === null) assertRecent(caller)
      else await withPassword(caller, password)
    },
  }
}

import type { SessionCaller } from '../../core/callers.ts'
import type { Call } from '../../server/call.ts'
import type { Reauthentication } from './reauthentication.ts'
import { signedOut } from './sessions.ts'

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

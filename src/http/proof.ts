import type { SessionCaller } from '../services/caller.ts'
import { signedOut } from '../services/sessions.ts'
import type { Call } from './call.ts'

/**
 * For routes that make or change what outlasts the session. Throws Refusal REAUTHENTICATION_REQUIRED when its person has
 * not shown who they are for ten minutes, and NOT_SIGNED_IN for a caller without a session.
 */
export function assertProved({ caller, site }: Call): void {
  if (caller?.kind !== 'account' || caller.by.kind !== 'session') throw signedOut()
  const session: SessionCaller = { ...caller, by: caller.by }
  site.services.proofs.assertRecent(session)
}

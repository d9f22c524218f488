import type { SessionCaller } from '../core/callers.ts'
import { Refusal } from '../domain/errors.ts'
import type { Call } from '../server/call.ts'
import { assertOwnOrigin, isSafe, mayBeSignedIn } from '../server/requests/own-page.ts'
import { sessionToken } from './sign-in/session-cookie.ts'
import type { Sessions } from './sign-in/sessions.ts'

export interface BrowserSessions {
  /**
   * Null without a session cookie. Throws Refusal FOREIGN_ORIGIN for a change requested by another site, and
   * NOT_SIGNED_IN or ACCOUNT_DISABLED.
   */
  ofApi(call: Call): Promise<SessionCaller | null>
  /** An invalid session makes the caller anonymous. */
  ofPage(call: Call): Promise<SessionCaller | null>
  end(call: Call): Promise<void>
}

export function createBrowserSessions({
  sessions,
  forgetSession,
}: {
  readonly sessions: Sessions
  forgetSession(): readonly string[]
}): BrowserSessions {
  async function ofApi(call: Call): Promise<SessionCaller | null> {
    const token = sessionToken(call)
    if (token === null) return null
    if (!isSafe(call.request.method)) assertOwnOrigin(call)
    else if (!mayBeSignedIn(call)) return null
    return sessions.authenticate(token, call.address)
  }

  return {
    ofApi,

    async ofPage(call) {
      try {
        const session = mayBeSignedIn(call) ? await ofApi(call) : null
        if (session !== null) call.caller = session
        return session
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        // Clears the cookie of an ended session: uploads from the page would be refused with it.
        if (error.code === 'NOT_SIGNED_IN') {
          for (const cookie of forgetSession()) call.headers.set('Set-Cookie', cookie)
        }
        return null
      }
    },

    async end(call) {
      const token = sessionToken(call)
      if (token === null) return
      const present = await sessions.authenticate(token, call.address).catch((error: unknown) => {
        if (error instanceof Refusal) return null
        throw error
      })
      if (present !== null) await sessions.end(present, present.by.session)
    },
  }
}

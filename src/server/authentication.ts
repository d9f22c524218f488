import type { AccountCaller, Caller, SessionCaller } from '../core/callers.ts'
import type { Requester } from '../domain/access.ts'
import type { Administrator } from '../domain/audit.ts'
import type { Call } from './call.ts'

/** Authenticates requests; stores the caller and the remaining rate limit in the call. */
export interface Authentication {
  /**
   * Requires a key or a session; counted. Throws Refusal INVALID_API_KEY, NOT_SIGNED_IN, FOREIGN_ORIGIN,
   * ACCOUNT_DISABLED, RATE_LIMITED or SCOPE_MISSING.
   */
  keyed(call: Call): Promise<AccountCaller>
  /**
   * Requires a session; keys are not accepted. Throws Refusal NOT_SIGNED_IN, FOREIGN_ORIGIN, ACCOUNT_DISABLED
   * or RATE_LIMITED.
   */
  signedIn(call: Call): Promise<SessionCaller>
  /** Requires an administrator's session. Also throws Refusal ADMIN_NEEDED. */
  administrator(call: Call): Promise<Administrator>
  /** `keyed` with credentials, a guest without. An invalid key or expired session never counts as a guest. */
  keyedOrGuest(call: Call): Promise<Caller>
  /** `keyed` with a key, a guest without; cookies are ignored. */
  keyOrGuest(call: Call): Promise<Caller>
  /**
   * Counts a request with a valid key where no route asks for one: an unknown address, a wrong method, a route
   * for everybody or for sessions. Anything else in the Authorization header is ignored. Throws Refusal RATE_LIMITED.
   */
  count(call: Call): Promise<void>
  /**
   * For routes where a good key changes nothing. Throws Refusal INVALID_API_KEY or ACCOUNT_DISABLED for any other: whoever sends
   * one takes what they do for their own. Other schemes are the route's.
   */
  assertGoodKey(call: Call): Promise<void>
  /**
   * `keyedOrGuest` without rate limit, for requests that carry bytes of an upload, of which there may be any
   * number.
   */
  ofBytes(call: Call): Promise<Caller>
  /** Whether an admitted caller would still be admitted. For long-lived responses; not counted. */
  isStillLetIn(call: Call): Promise<boolean>
  /**
   * The viewer of possibly public content. A key that is invalid or lacks the read scope makes the caller
   * anonymous instead of an error.
   */
  requester(call: Call): Promise<Requester>
  /**
   * The session of a page request, or null. An invalid session makes the caller anonymous instead of an
   * error.
   */
  pageSession(call: Call): Promise<SessionCaller | null>
  /** Name of the session cookie for a server at that address. */
  sessionCookie(publicUrl: string): string
  /** Whether the browser sends a session cookie, valid or not. */
  sendsSession(call: Call): boolean
  /** Ends the browser's previous session, after a new sign-in or to sign out. */
  endSession(call: Call): Promise<void>
}

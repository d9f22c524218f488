import type { AccountCaller, Caller, SessionCaller } from '../core/callers.ts'
import type { Requester } from '../domain/access.ts'
import type { Administrator } from '../domain/audit.ts'
import type { Call } from './call.ts'

/** Stores caller and remaining rate limit in the call. */
export interface Authentication {
  /** Throws Refusal INVALID_API_KEY, NOT_SIGNED_IN, FOREIGN_ORIGIN, ACCOUNT_DISABLED, RATE_LIMITED, SCOPE_MISSING. */
  keyed(call: Call): Promise<AccountCaller>
  /** Session only. Throws Refusal NOT_SIGNED_IN, FOREIGN_ORIGIN, ACCOUNT_DISABLED or RATE_LIMITED. */
  signedIn(call: Call): Promise<SessionCaller>
  /** `signedIn`; also throws Refusal ADMIN_NEEDED. */
  administrator(call: Call): Promise<Administrator>
  /** An invalid key or expired session never counts as a guest. */
  keyedOrGuest(call: Call): Promise<Caller>
  /** Ignores cookies. */
  keyOrGuest(call: Call): Promise<Caller>
  /**
   * Counts a valid key where the route needs none: unknown address, wrong method, public or session routes. Ignores
   * other Authorization headers. Throws Refusal RATE_LIMITED.
   */
  count(call: Call): Promise<void>
  /**
   * For routes where a valid key changes nothing: a client with a bad key believes to act for its account. Throws
   * Refusal INVALID_API_KEY or ACCOUNT_DISABLED. Leaves other schemes to the route.
   */
  assertGoodKey(call: Call): Promise<void>
  /** `keyedOrGuest` without rate limit, for the many requests with bytes of an upload. */
  ofBytes(call: Call): Promise<Caller>
  /** For long-lived responses; not counted. */
  isStillLetIn(call: Call): Promise<boolean>
  /** A key that is invalid or lacks the read scope makes the caller anonymous. */
  requester(call: Call): Promise<Requester>
  /** An invalid session makes the caller anonymous. */
  pageSession(call: Call): Promise<SessionCaller | null>
  sessionCookie(publicUrl: string): string
  /** Valid or not. */
  sendsSession(call: Call): boolean
  endSession(call: Call): Promise<void>
}

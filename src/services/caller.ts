import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS, type KeyId, type SessionId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { SCOPES, type Scope } from '../domain/scopes.ts'

/** Somebody with an account, and what the key or the session is good for that shows it. */
export interface AccountCaller extends Reach {
  readonly kind: 'account'
  readonly username: string
  readonly by: Credential
  readonly scopes: readonly Scope[]
  /** When the key ends; null: never. Keys that a session makes may outlive it. */
  readonly expiresAt: number | null
}

/** What shows whose account it is. */
export type Credential =
  | { readonly kind: 'key'; readonly key: KeyId }
  | {
      readonly kind: 'session'
      readonly session: SessionId
      readonly isAdmin: boolean
      /** When its person has last shown who they are: by signing in, or once more since. */
      readonly provedAt: number
    }

/** Somebody who is signed in on the site. */
export interface SessionCaller extends AccountCaller {
  readonly by: Extract<Credential, { kind: 'session' }>
}

/** Somebody without an account. `bucket` is the address as limits count it. */
export interface GuestCaller {
  readonly kind: 'guest'
  readonly bucket: string
}

export type Caller = AccountCaller | GuestCaller

/** Whose account it is that pays for what the caller stores. */
export function ownerOf(caller: Caller): AccountId {
  return caller.kind === 'account' ? caller.account : GUESTS
}

/** Throws Refusal SCOPE_MISSING. */
export function assertScope(caller: AccountCaller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return
  throw new Refusal('SCOPE_MISSING', `This API key lacks the scope "${scope}"; use a key that has it`)
}

/** Whether there is something of the account's that the caller may not see or do. */
export function isRestricted({ scopes, within }: AccountCaller): boolean {
  return within !== null || SCOPES.some((scope) => !scopes.includes(scope))
}

/** Where the caller may put things. */
export function reachOf(caller: Caller): Reach {
  return caller.kind === 'account' ? caller : { account: GUESTS, within: null }
}

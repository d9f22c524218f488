import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS, type KeyId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { SCOPES, type Scope } from '../domain/scopes.ts'

/** Somebody with an API key, and what that key is good for. */
export interface AccountCaller extends Reach {
  readonly kind: 'account'
  readonly key: KeyId
  readonly username: string
  readonly scopes: readonly Scope[]
  /** When the key ends; null: never. */
  readonly expiresAt: number | null
}

/** Somebody without one. `bucket` is the address as limits count it. */
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

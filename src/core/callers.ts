import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS, type KeyId, type LinkId, type SessionId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { SCOPES, type Scope } from '../domain/scopes.ts'

/** An authenticated account with the reach and scopes of the key or session that was used. */
export interface AccountCaller extends Reach {
  readonly kind: 'account'
  readonly username: string
  readonly by: Credential
  readonly scopes: readonly Scope[]
  /** Expiry of the key; null: never. Keys made from a session may outlive it. */
  readonly expiresAt: number | null
}

/** The key or session that authenticated the request. */
export type Credential =
  | { readonly kind: 'key'; readonly key: KeyId }
  | {
      readonly kind: 'session'
      readonly session: SessionId
      readonly isAdmin: boolean
      /** Time of the last sign-in or re-authentication. */
      readonly provedAt: number
      /** Client address of this request; empty when unknown. */
      readonly address: string
    }

/** A caller who is signed in on the site. */
export interface SessionCaller extends AccountCaller {
  readonly by: Extract<Credential, { kind: 'session' }>
}

/** A caller without an account. `bucket` is the client address as rate limits count it. */
export interface GuestCaller {
  readonly kind: 'guest'
  readonly bucket: string
}

/** A sender who uses an upload link: all that they store is the link owner's. */
export interface ContributorCaller extends Reach {
  readonly kind: 'contributor'
  readonly bucket: string
  readonly link: LinkId
}

export type Caller = AccountCaller | GuestCaller

/** A caller as uploads know them. */
export type Sender = Caller | ContributorCaller

/** The account that is charged for what the caller stores. */
export function ownerOf(caller: Sender): AccountId {
  return caller.kind === 'guest' ? GUESTS : caller.account
}

/** Throws Refusal SCOPE_MISSING. */
export function assertScope(caller: AccountCaller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return
  throw new Refusal('SCOPE_MISSING', `This API key lacks the scope "${scope}"; use a key that has it`)
}

/** Whether answers may tell the caller what there is: names, sizes, addresses. */
export function mayRead({ scopes }: Pick<AccountCaller, 'scopes'>): boolean {
  return scopes.includes('read')
}

/** Whether the account has content or actions beyond what the caller's scopes and folder allow. */
export function isRestricted({ scopes, within }: AccountCaller): boolean {
  return within !== null || SCOPES.some((scope) => !scopes.includes(scope))
}

/** The account and folder in which the caller may store. */
export function reachOf(caller: Sender): Reach {
  return caller.kind === 'guest' ? { account: GUESTS, within: null } : caller
}

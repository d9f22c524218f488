import { type AccountId, GUESTS, type KeyId, type SessionId } from '../domain/ids.ts'

/** Somebody with an account. */
export interface AccountCaller {
  readonly kind: 'account'
  readonly account: AccountId
  readonly username: string
  readonly by: Credential
}

/** What shows whose account it is. */
export type Credential =
  | { readonly kind: 'key'; readonly key: KeyId }
  | {
      readonly kind: 'session'
      readonly session: SessionId
      readonly isAdmin: boolean
      readonly since: number
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

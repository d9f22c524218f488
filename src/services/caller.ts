import { type AccountId, GUESTS, type KeyId } from '../domain/ids.ts'

/** Somebody with an API key. */
export interface AccountCaller {
  readonly kind: 'account'
  readonly account: AccountId
  readonly key: KeyId
  readonly username: string
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

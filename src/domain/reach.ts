import { type AccountId, type FolderIdentifier, GUESTS } from './ids.ts'
import { SCOPES, type Scope } from './scopes.ts'

/** An account, or one folder of it with its descendants. */
export interface Reach {
  readonly account: AccountId
  /** Null: the whole account. Nothing is reachable once the folder is deleted. */
  readonly within: FolderIdentifier | null
}

export interface Actor extends Reach {
  readonly scopes: readonly Scope[]
}

export const GUEST_REACH: Actor = { account: GUESTS, within: null, scopes: SCOPES }

import { type AccountId, type FolderIdentifier, GUESTS } from './ids.ts'
import { SCOPES, type Scope } from './scopes.ts'

/** The part of an account that a caller may access: all of it, or one folder with its descendants. */
export interface Reach {
  readonly account: AccountId
  /** null: the whole account. When the folder is deleted, nothing is accessible. */
  readonly within: FolderIdentifier | null
}

/** A caller who changes something within reach. */
export interface Actor extends Reach {
  readonly scopes: readonly Scope[]
}

/** What a guest reaches by a receipt, which is good for everything. */
export const GUEST_REACH: Actor = { account: GUESTS, within: null, scopes: SCOPES }

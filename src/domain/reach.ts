import { type AccountId, type FolderIdentifier, GUESTS } from './ids.ts'

/** The part of an account that a caller may access: all of it, or one folder with its descendants. */
export interface Reach {
  readonly account: AccountId
  /** null: the whole account. When the folder is deleted, nothing is accessible. */
  readonly within: FolderIdentifier | null
}

export const GUEST_REACH: Reach = { account: GUESTS, within: null }

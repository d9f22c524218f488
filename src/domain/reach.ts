import type { AccountId, FolderIdentifier } from './ids.ts'

/** What somebody may touch: an account's things, all of them or those in one folder and below it. */
export interface Reach {
  readonly account: AccountId
  /** null: all of the account. When the folder is gone, nothing is left. */
  readonly within: FolderIdentifier | null
}

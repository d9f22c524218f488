/** Of the page that a guest's receipt opens. */
export interface ReceiptTexts {
  readonly yours: string
  /** {size}, {day} */
  readonly uploaded: string
  /** {received}, {size} */
  readonly arriving: string
  /** {received} */
  readonly arrivingUnsized: string
  readonly open: string
  /** {day} */
  readonly keep: string
  readonly name: string
  readonly rename: string
  /** {day} */
  readonly kept: string
  readonly renamed: string
  readonly claim: string
  /** {account} */
  readonly claimWhy: string
  readonly claimed: string
  readonly claimedWhy: string
  readonly signInToClaim: string
  readonly toFiles: string
  readonly delete: string
  readonly deleteWhy: string
  readonly deleteForGood: string
  readonly deleted: string
  readonly deletedWhy: string
  readonly elsewhere: string
  readonly elsewhereWhy: string
  readonly code: string
  readonly remember: string
  readonly remembered: string
  readonly rememberFailed: string
  readonly toStart: string
}

/** Of the page that a receipt opens. */
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
  /** {owner} */
  readonly sentTo: string
  /** {size}, {moment} */
  readonly sent: string
  readonly sentFor: string
  readonly sendAnother: string
  readonly withdraw: string
  /** {owner} */
  readonly withdrawWhy: string
  readonly withdrawForGood: string
  /** {owner} */
  readonly stays: string
  readonly withdrawn: string
  readonly withdrawnWhy: string
  readonly elsewhereSent: string
  readonly madeLink: string
  readonly openLink: string
  readonly terms: string
  readonly downloads: string
  readonly downloadsWhy: string
  readonly password: string
  readonly passwordWhy: string
  readonly passwordKept: string
  readonly passwordOff: string
  readonly changed: string
  readonly takeBackWhy: string
  readonly takeBackForGood: string
  readonly takenBack: string
  readonly takenBackWhy: string
  readonly elsewhereLink: string
  readonly toStart: string
}

import type { PasskeyPlaceTexts } from '../shared/passkey-place.ts'
import type { StrengthTexts } from '../shared/strength.ts'
import type { Plural } from '../shared/words.ts'

/** What the script of the page is told. */
export interface SignInPageData {
  /** Path to go on to. */
  readonly next: string
  readonly locale: string
  readonly texts: {
    readonly passkeyFailed: string
    readonly passkeyPlace: PasskeyPlaceTexts
    readonly strength: StrengthTexts
    /** {count} */
    readonly claim: Plural
  }
}

export const PASSKEY_BUTTON = 'passkey'
export const PASSKEY_PROBLEM = 'passkey-problem'

/** Where it is told how good a new password is. */
export const STRENGTH = 'strength'

/** Whether what this browser has uploaded before is to be in the new account; hidden where there is nothing. */
export const CLAIM = 'claim'

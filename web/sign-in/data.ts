import type { StrengthTexts } from '../shared/strength.ts'

/** What the script of the page is told. */
export interface SignInPageData {
  /** Path to go on to. */
  readonly next: string
  readonly texts: { readonly passkeyFailed: string; readonly strength: StrengthTexts }
}

export const PASSKEY_BUTTON = 'passkey'
export const PASSKEY_PROBLEM = 'passkey-problem'

/** Where it is told how good a new password is. */
export const STRENGTH = 'strength'

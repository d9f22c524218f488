/** What the script of the page is told. */
export interface SignInPageData {
  /** Path to go on to. */
  readonly next: string
  readonly texts: { readonly passkeyFailed: string }
}

export const PASSKEY_BUTTON = 'passkey'
export const PASSKEY_PROBLEM = 'passkey-problem'

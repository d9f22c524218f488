/** What the server tells the script of a receipt's page. */
export interface ReceiptPageData {
  readonly receipt: string
  /** `at`: ISO 8601. Null when it was just deleted, or claimed into an account. */
  readonly upload: {
    readonly name: string
    /** Bytes. */
    readonly size: number
    readonly link: string
    readonly at: string
  } | null
  readonly texts: { readonly remembered: string; readonly rememberFailed: string }
}

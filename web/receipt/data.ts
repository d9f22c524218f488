/** What the server tells the script of a receipt's page. */
export interface ReceiptPageData {
  readonly receipt: string
  /** Deleted, withdrawn, taken back or claimed just now. */
  readonly isOver: boolean
  /** What this browser may remember; `at`: ISO 8601. null for what was sent by an upload link. */
  readonly kept: {
    readonly name: string
    /** Bytes. */
    readonly size: number
    readonly link: string
    readonly at: string
  } | null
  /** Slug of the upload link by which it was sent; null for anything else. */
  readonly asking: string | null
  readonly texts: { readonly remembered: string; readonly rememberFailed: string }
}

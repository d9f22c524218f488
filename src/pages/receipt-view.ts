import type { ReceiptUpload } from '../contract/uploads.ts'

/** View model of the page of a receipt. */
export interface ReceiptPageView {
  readonly receipt: string
  /** Null once the receipt is over. */
  readonly upload: ReceiptUpload | null
  /** Why it is over; the link of a claimed file stays. */
  readonly over: { readonly kind: 'deleted' } | { readonly kind: 'claimed'; readonly url: string } | null
  /** User name of whoever is signed in, who may claim the file; null for nobody. */
  readonly account: string | null
  /** Absolute address of this page, and the path that its forms go to. */
  readonly url: string
  readonly action: string
  /** ISO 8601. What `expires_at` becomes when the file is kept. */
  readonly keptUntil: string
  /** What was just done, or null. */
  readonly done: 'renamed' | 'kept' | null
}

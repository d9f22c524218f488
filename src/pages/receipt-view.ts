import type { ReceiptUpload } from '../contract/uploads.ts'

/** View model of the page of a receipt. */
export interface ReceiptPageView {
  readonly receipt: string
  /** Null after it was deleted. */
  readonly upload: ReceiptUpload | null
  /** Absolute address of this page, and the path that its forms go to. */
  readonly url: string
  readonly action: string
  /** ISO 8601. What `expires_at` becomes when the file is kept. */
  readonly keptUntil: string
  /** What was just done, or null. */
  readonly done: 'renamed' | 'kept' | null
}

import type { LinkEvent } from '../contract/links.ts'
import type { Receipted, ReceiptFile } from '../contract/receipts.ts'

export interface ReceiptPageView {
  readonly receipt: string
  readonly of: Receipted
  /** The link of a claimed file stays. */
  readonly over: 'deleted' | 'claimed' | null
  /** User name of the session, which may claim the file. */
  readonly account: string | null
  readonly url: string
  readonly action: string
  /** ISO 8601. New `expires_at` of a file that is kept; null for no expiry. */
  readonly keptUntil: string | null
  readonly done: ReceiptDone | null
  readonly log: readonly LinkEvent[]
  /** The first files of a transfer; null for anything else. */
  readonly sent: { readonly files: readonly ReceiptFile[]; readonly total: number } | null
}

export const RECEIPT_DONE = ['renamed', 'kept', 'changed', 'received'] as const
export type ReceiptDone = (typeof RECEIPT_DONE)[number]

/** Days that the form offers for a link's end. */
export const LINK_DAYS = [1, 7, 30] as const

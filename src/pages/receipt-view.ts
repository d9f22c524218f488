import type { LinkEvent } from '../contract/links.ts'
import type { Receipted } from '../contract/receipts.ts'

/** View model of the page of a receipt. */
export interface ReceiptPageView {
  readonly receipt: string
  /** What it is for, or was. */
  readonly of: Receipted
  /** Why it is over; the link of a claimed file stays. null while it is not. */
  readonly over: 'deleted' | 'claimed' | null
  /** User name of whoever is signed in, who may claim the file; null for nobody. */
  readonly account: string | null
  /** Absolute address of this page, and the path that its forms go to. */
  readonly url: string
  readonly action: string
  /** ISO 8601. What `expires_at` becomes when a file is kept; null: it stays for good. */
  readonly keptUntil: string | null
  /** What was just done, or null. */
  readonly done: ReceiptDone | null
  /** Of a link: the newest that happened to it. */
  readonly log: readonly LinkEvent[]
}

export const RECEIPT_DONE = ['renamed', 'kept', 'changed', 'received'] as const
export type ReceiptDone = (typeof RECEIPT_DONE)[number]

/** How many days from now its form lets a link end. */
export const LINK_DAYS = [1, 7, 30] as const

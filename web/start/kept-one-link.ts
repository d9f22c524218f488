import type { ReceiptStore } from '../uploads/receipts.ts'

/** One link that was made to several uploads. */
export interface OneLinkMade {
  readonly link: string
  /** Of the uploads that it opens. */
  readonly links: readonly string[]
  readonly hasPassword: boolean
  readonly isForOne: boolean
  readonly isCopied: boolean
}

const KEY = 'holdfast-one-link'

/** Kept as long as the tab, so that a reload does not offer to make it again. */
export function keepOneLink(made: OneLinkMade): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(made))
  } catch {
    // It is gone with the page, and stands in the list of earlier uploads or in the account.
  }
}

/** The one that was made last, unless it is gone by now: taken back, or over. `receipts`: of a guest; null for an account. */
export async function keptOneLink(receipts: Pick<ReceiptStore, 'find'> | null): Promise<OneLinkMade | null> {
  const made = read()
  if (made === null || receipts?.find(made.link) === null) return null
  // A look at the head alone takes no place of a link for one download.
  const answer = await fetch(new URL(made.link).pathname, { method: 'HEAD' }).catch(() => null)
  return answer?.status === 404 ? null : { ...made, isCopied: false }
}

function read(): OneLinkMade | null {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    return isMade(value) ? value : null
  } catch {
    return null
  }
}

function isMade(value: unknown): value is OneLinkMade {
  if (typeof value !== 'object' || value === null) return false
  const { link, links, hasPassword, isForOne }: Partial<Record<string, unknown>> = { ...value }
  const areTold = [hasPassword, isForOne].every((told) => typeof told === 'boolean')
  return typeof link === 'string' && URL.canParse(link) && Array.isArray(links) && areTold
}

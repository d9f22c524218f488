import { RequestFailure } from '../answers.ts'
import type { KeptReceipt, ReceiptStore } from '../receipts.ts'
import { claimWithReceipt, isReceiptGone } from '../server.ts'

const WISH = 'holdfast-claim'
const DECLINED = 'holdfast-claim-declined'
/** Milliseconds between the wish and the new account. */
const WISHED_FOR = 3_600_000

/** Files and transfers; links follow their files. */
export function claimable(receipts: Pick<ReceiptStore, 'list'>): readonly KeptReceipt[] {
  return receipts.list().filter((receipt) => !isLink(receipt))
}

/** Those in transfers, too. */
export function filesIn(receipts: readonly KeptReceipt[]): number {
  return receipts.reduce((sum, { files = 1 }) => sum + files, 0)
}

export function wishForClaim(storage: Storage | null, isWanted: boolean): void {
  write(storage, WISH, isWanted ? String(Date.now()) : null)
}

export function takeClaimWish(storage: Storage | null): boolean {
  const at = Number(storage?.getItem(WISH) ?? 0)
  if (at > 0) write(storage, WISH, null)
  return Math.abs(Date.now() - at) < WISHED_FOR
}

export function declineClaim(storage: Storage | null, receipts: readonly KeptReceipt[]): void {
  write(storage, DECLINED, String(Math.max(0, ...receipts.map(({ at }) => at))))
}

export function isDeclined(storage: Storage | null, receipts: readonly KeptReceipt[]): boolean {
  const until = Number(storage?.getItem(DECLINED) ?? -1)
  return receipts.every(({ at }) => at <= until)
}

export interface ClaimResult {
  readonly moved: number
  readonly trouble: 'full' | 'failed' | null
}

/** One after another, so that those that fit are claimed. Running uploads stay. */
export async function claimAll(receipts: ReceiptStore): Promise<ClaimResult> {
  let moved = 0
  let trouble: ClaimResult['trouble'] = null
  for (const { receipt, link, files = 1 } of claimable(receipts)) {
    try {
      await claimWithReceipt(receipt)
      receipts.remove(link)
      moved += files
    } catch (error) {
      trouble = codeOf(error) === 'STORAGE_LIMIT_EXCEEDED' ? 'full' : 'failed'
      if (trouble === 'failed' && !ARRIVING.includes(codeOf(error) ?? '')) break
    }
  }
  await forgetLinks(receipts)
  return { moved, trouble }
}

/** Of a file, and of a transfer. */
const ARRIVING: readonly string[] = ['FILE_ARRIVING', 'REQUEST_UNDER_WAY']

async function forgetLinks(receipts: ReceiptStore): Promise<void> {
  for (const { link, receipt } of receipts.list().filter(isLink)) {
    if (await isReceiptGone(receipt)) receipts.remove(link)
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof RequestFailure ? (error.answer?.code ?? null) : null
}

function isLink({ link, files }: KeptReceipt): boolean {
  return files === undefined && new URL(link).pathname.startsWith('/l/')
}

function write(storage: Storage | null, key: string, value: string | null): void {
  try {
    if (value === null) storage?.removeItem(key)
    else storage?.setItem(key, value)
  } catch {
    // Storage failed: the user is asked again.
  }
}

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type BlobStore, type MarkCopy, StoreFailure } from '../blobs/blob-store.ts'

/**
 * The mark of backups and mirrors: two copies of one text, each with a checksum, so that one lost object or one wrong
 * bit costs nothing. Its body has a MAC, so that a writer to the store without the key can only replay an older one,
 * which the growing number in the body detects.
 */

/** Written in this order: the first is never older than the second. */
export const COPIES = ['mark', 'mark-copy'] as const satisfies readonly MarkCopy[]

export type MarkKind = 'backup' | 'mirror'

export interface CopyFault {
  readonly copy: MarkCopy
  readonly reason: string
}

export interface MarkState {
  readonly series: string
  readonly number: number
}

export function stateName({ series, number }: MarkState): string {
  return `${series}/${number}`
}

const SERIES_BYTES = 6

export function makeSeries(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(SERIES_BYTES)).toString('hex')
}

export function withSum(kind: MarkKind, format: number, json: string): string {
  return `holdfast-${kind} ${format} ${sumOf(format, json)}\n${json}`
}

const sumOf = (format: number, json: string) =>
  createHash('sha256').update(`${format}\n${json}`).digest('hex')

export type CopyText =
  | { readonly kind: 'whole'; readonly format: number; readonly json: string }
  | { readonly kind: 'other'; readonly text: string }
  | { readonly kind: 'missing' | 'damaged'; readonly reason: string }

/** A failure of this object alone counts as damage; throws StoreFailure for any other. */
export async function readCopyText(
  store: Pick<BlobStore, 'readMark'>,
  copy: MarkCopy,
  kind: MarkKind,
): Promise<CopyText> {
  try {
    const text = await store.readMark(copy)
    return text === null ? { kind: 'missing', reason: 'is missing' } : parsedText(text, kind)
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.reason !== 'broken') throw error
    const cause = error.cause instanceof Error ? error.cause.message : error.message
    return { kind: 'damaged', reason: `cannot be read: ${cause}` }
  }
}

const HEADS = {
  backup: /^holdfast-backup (\d{1,9}) ([0-9a-f]{64})\n/,
  mirror: /^holdfast-mirror (\d{1,9}) ([0-9a-f]{64})\n/,
} as const satisfies Record<MarkKind, RegExp>

function parsedText(text: string, kind: MarkKind): CopyText {
  const [head = '', format = '', sum] = HEADS[kind].exec(text) ?? []
  if (sum === undefined) return { kind: 'other', text }
  const json = text.slice(head.length)
  if (sumOf(Number(format), json) !== sum)
    return { kind: 'damaged', reason: 'has other bytes than were written' }
  return { kind: 'whole', format: Number(format), json }
}

/** HMAC-SHA-256 under an HKDF key for this use alone. */
export function macOf(body: string, key: string, use: string): string {
  const macKey = new Uint8Array(hkdfSync('sha256', key, '', use, 32))
  return createHmac('sha256', macKey).update(body).digest('hex')
}

export function isAuthentic(body: string, mac: string, key: string, use: string): boolean {
  const [one, other] = [Buffer.from(mac), Buffer.from(macOf(body, key, use))]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Null for malformed JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

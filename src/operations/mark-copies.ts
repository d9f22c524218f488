/**
 * What backups and mirrors keep in place of a store's mark: two copies of one text, each with a sum, so that one lost object or
 * one wrong bit costs nothing. Its body is authenticated by a key, so whoever can write to the store, but does not have the
 * key, can only put back what was there before; a number that grows in the body tells that.
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type BlobStore, type MarkCopy, StoreFailure } from '../blobs/blob-store.ts'

/** Written in this order, so the first one is never older than the second. */
export const COPIES = ['mark', 'mark-copy'] as const satisfies readonly MarkCopy[]

export type MarkKind = 'backup' | 'mirror'

/** A copy that is missing or damaged, or that nobody who has the key has written. */
export interface CopyFault {
  readonly copy: MarkCopy
  readonly reason: string
}

/** State of a backup or a mirror, as people compare it: the series, and the number within it. */
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

/** The text of one copy. */
export function withSum(kind: MarkKind, format: number, json: string): string {
  return `holdfast-${kind} ${format} ${sumOf(format, json)}\n${json}`
}

const sumOf = (format: number, json: string) =>
  createHash('sha256').update(`${format}\n${json}`).digest('hex')

export type CopyText =
  | { readonly kind: 'whole'; readonly format: number; readonly json: string }
  | { readonly kind: 'missing' }
  /** Begins otherwise. */
  | { readonly kind: 'other'; readonly text: string }
  | { readonly kind: 'damaged'; readonly reason: string }

/** Reads one copy. A failure that concerns this object alone is damage of it; throws StoreFailure for any other. */
export async function readCopyText(
  store: Pick<BlobStore, 'readMark'>,
  copy: MarkCopy,
  kind: MarkKind,
): Promise<CopyText> {
  try {
    const text = await store.readMark(copy)
    return text === null ? { kind: 'missing' } : parsedText(text, kind)
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

/** HMAC-SHA-256 of the body, by a key that HKDF makes for this use alone. */
export function macOf(body: string, key: string, use: string): string {
  const macKey = new Uint8Array(hkdfSync('sha256', key, '', use, 32))
  return createHmac('sha256', macKey).update(body).digest('hex')
}

export function isAuthentic(body: string, mac: string, key: string, use: string): boolean {
  const [one, other] = [Buffer.from(mac), Buffer.from(macOf(body, key, use))]
  return one.length === other.length && timingSafeEqual(one, other)
}

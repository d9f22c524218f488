import { HOUR } from '../../domain/clock.ts'
import type { AccountId, KeyId } from '../../domain/ids.ts'
import type { RateLimits, Verdict } from './rate-limits.ts'

export interface KeyRate {
  /** Requests per hour and key. */
  readonly limit: number
  /** Multiple of `limit` for all keys of an account together; 0: unlimited. */
  readonly factor: number
}

export interface KeyVerdict extends Verdict {
  /** The account's limit, if that was reached. */
  readonly ceiling: number | null
}

/**
 * Counts in two windows: the key's, and that of all the account's keys including revoked ones, since new keys would
 * evade the limit. Refused requests count in neither. The verdict's limit is the key's; `remaining` and reset are of
 * the window with less left.
 */
export async function takeForKey(
  rates: RateLimits,
  { key, account }: { readonly key: KeyId; readonly account: AccountId },
  requests: number,
  { limit, factor }: KeyRate,
): Promise<KeyVerdict> {
  const subject = subjectOfKey(key)
  const own = await rates.take(subject, requests, limit, HOUR)
  if (!own.allowed || factor === 0) return { ...own, ceiling: null }
  const ceiling = limit * factor
  const all = await rates.take(subjectOfKeys(account), requests, ceiling, HOUR)
  if (!all.allowed) await rates.giveBack(subject, requests, own.openedAt)
  if (all.allowed) return nearerOf(own, all)
  return { ...all, limit, ceiling }
}

export function nearerOf(own: Verdict, all: Verdict): KeyVerdict {
  const nearer = own.remaining <= all.remaining ? own : all
  return { ...nearer, limit: own.limit, ceiling: null }
}

export function subjectOfKey(key: KeyId): string {
  return `key:${key}`
}

export function subjectOfKeys(account: AccountId): string {
  return `keys-of:${account}`
}

import { HOUR } from '../../domain/clock.ts'
import type { AccountId, KeyId } from '../../domain/ids.ts'
import type { RateLimits, Verdict } from './rate-limits.ts'

export interface KeyRate {
  /** Requests that one key may make in an hour. */
  readonly limit: number
  /** Multiple of `limit` that all keys of an account together may reach; 0: unlimited. */
  readonly factor: number
}

export interface KeyVerdict extends Verdict {
  /** Limit for all keys of the account, if that is the one that was reached; else null. */
  readonly ceiling: number | null
}

/**
 * Counts requests of a key in two windows: its own, and that of all keys of the account including revoked
 * ones, since otherwise creating new keys would evade the limit. Refused requests count in neither. The
 * verdict's limit is the key's; `remaining` and the reset come from whichever window has less left.
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

/** The verdict on a request that was counted in both windows, that of its key and that of its account. */
export function nearerOf(own: Verdict, all: Verdict): KeyVerdict {
  const nearer = own.remaining <= all.remaining ? own : all
  return { ...nearer, limit: own.limit, ceiling: null }
}

export function subjectOfKey(key: KeyId): string {
  return `key:${key}`
}

/** Of all keys of the account together. */
export function subjectOfKeys(account: AccountId): string {
  return `keys-of:${account}`
}

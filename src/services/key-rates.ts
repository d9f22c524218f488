import { HOUR } from '../domain/clock.ts'
import type { AccountId, KeyId } from '../domain/ids.ts'
import type { RateLimits, Verdict } from './rate-limits.ts'

export interface KeyRate {
  /** Requests of one key in an hour. */
  readonly limit: number
  /** How many times as many all keys of an account may make together; 0: no matter how many. */
  readonly factor: number
}

export interface KeyVerdict extends Verdict {
  /** What all keys of the account may make together, where that is the limit that was reached; else null. */
  readonly ceiling: number | null
}

/**
 * Counts requests of a key: by themselves, and with those of all keys of the account, also such as were revoked since, or
 * who makes keys one after another has no limit. What is refused counts in neither window. What is told is of the key;
 * what is left, and until when, of whichever window has less.
 */
export async function takeForKey(
  rates: RateLimits,
  { key, account }: { readonly key: KeyId; readonly account: AccountId },
  requests: number,
  { limit, factor }: KeyRate,
): Promise<KeyVerdict> {
  const subject = `key:${key}`
  const own = await rates.take(subject, requests, limit, HOUR)
  if (!own.allowed || factor === 0) return { ...own, ceiling: null }
  const ceiling = limit * factor
  const all = await rates.take(`keys-of:${account}`, requests, ceiling, HOUR)
  if (!all.allowed) await rates.giveBack(subject, requests, own.openedAt)
  const nearer = all.allowed && own.remaining <= all.remaining ? own : all
  return { ...nearer, allowed: all.allowed, limit, ceiling: all.allowed ? null : ceiling }
}

import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import type { AccountId, KeyId } from '../../domain/ids.ts'
import { dropWindow, listWindows, saveWindow } from './shared-rate-windows.rows.ts'

export interface Verdict {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Whole seconds, at least 1. */
  readonly resetsIn: number
  /** Identifies the window. */
  readonly openedAt: number
}

/** Fixed-window counters per subject. A window opens with its first use. */
export interface RateLimits {
  /**
   * Takes `amount` if the window, `length` milliseconds long, then has at most `limit`. A refused take counts nothing
   * and opens no window. Concurrent takes never exceed the limit together. Shared windows throw the database's errors.
   */
  take(subject: string, amount: number, limit: number, length: number): Promise<Verdict>
  /** What `take` would answer, without effect. */
  look(subject: string, amount: number, limit: number, length: number): Promise<Verdict>
  /** Returns an unused amount, unless its window is over. Never throws: `flush` retries. */
  giveBack(subject: string, amount: number, openedAt: number): Promise<void>
  /** Writes pending changes and drops finished windows. Must be called periodically. */
  flush(): Promise<void>
}

export interface RateWindow {
  readonly openedAt: number
  readonly endsAt: number
  readonly used: number
}

export function verdictOf(
  window: RateWindow,
  allowed: boolean,
  limit: number,
  length: number,
  now: number,
): Verdict {
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - window.used),
    openedAt: window.openedAt,
    // Another node's clock may be ahead.
    resetsIn: Math.max(1, Math.ceil(Math.min(window.endsAt - now, length) / 1000)),
  }
}

interface KeptWindow extends RateWindow {
  used: number
  unsaved: boolean
}

/** For a single node. Windows survive a restart by `flush`; `take` and `giveBack` do not use the database. */
export async function createRateLimits(db: Database, clock: Clock): Promise<RateLimits> {
  const windows = new Map<string, KeptWindow>()
  for (const row of await listWindows(db)) {
    windows.set(row.subject, { openedAt: row.opened_at, endsAt: row.ends_at, used: row.used, unsaved: false })
  }

  // An opening in the future was written by a wrong clock.
  const isOver = (window: RateWindow, now: number) => now >= window.endsAt || now < window.openedAt

  function windowAt(now: number, subject: string, length: number): KeptWindow {
    const present = windows.get(subject)
    return present === undefined || isOver(present, now)
      ? { openedAt: now, endsAt: now + length, used: 0, unsaved: false }
      : present
  }

  return {
    async look(subject, amount, limit, length) {
      const now = clock.now()
      const window = windowAt(now, subject, length)
      return verdictOf(window, window.used + amount <= limit, limit, length, now)
    },

    async take(subject, amount, limit, length) {
      const now = clock.now()
      const window = windowAt(now, subject, length)
      const allowed = window.used + amount <= limit
      if (allowed) {
        window.used += amount
        window.unsaved = true
        windows.set(subject, window)
      }
      return verdictOf(window, allowed, limit, length, now)
    },

    async giveBack(subject, amount, openedAt) {
      const window = windows.get(subject)
      if (window?.openedAt !== openedAt) return
      window.used = Math.max(0, window.used - amount)
      window.unsaved = true
    },

    async flush() {
      const now = clock.now()
      const over = [...windows].filter(([, window]) => isOver(window, now))
      const changed = [...windows]
        .filter(([, window]) => window.unsaved && !isOver(window, now))
        .map(([subject, window]) => [subject, window, window.used] as const)
      if (over.length + changed.length === 0) return
      await inTransaction(db, async (trx) => {
        for (const [subject] of over) await dropWindow(trx, subject)
        for (const [subject, { openedAt: opened_at, endsAt: ends_at }, used] of changed) {
          await saveWindow(trx, { subject, opened_at, ends_at, used })
        }
      })
      for (const [subject, window] of over) {
        // A new window may have opened meanwhile.
        if (windows.get(subject) === window) windows.delete(subject)
      }
      for (const [, window, used] of changed) window.unsaved = window.used !== used
    },
  }
}

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

function subjectOfKeys(account: AccountId): string {
  return `keys-of:${account}`
}

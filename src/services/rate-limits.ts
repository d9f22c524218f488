import { dropWindow, listWindows, saveWindow } from '../database/rate-windows.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'

export interface Verdict {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Whole seconds until the window ends, at least 1. */
  readonly resetsIn: number
  /** When the window opened: which window it was. */
  readonly openedAt: number
}

/** Counts what subjects use in windows that open with the first use. */
export interface RateLimits {
  /**
   * Takes `amount` when no more than `limit` is used then in the window, which is `length` milliseconds long. What is
   * refused is not counted and opens no window. Takes at once never pass the limit together. Where windows are shared,
   * throws what the database throws.
   */
  take(subject: string, amount: number, limit: number, length: number): Promise<Verdict>
  /**
   * Takes back what turned out not to be used, unless the window that it was counted in is over. Never throws: what
   * cannot be given back now is given back by `flush`.
   */
  giveBack(subject: string, amount: number, openedAt: number): Promise<void>
  /** Writes what is not written yet and drops windows that are over. To be called again and again. */
  flush(): Promise<void>
}

export interface Window {
  readonly openedAt: number
  readonly endsAt: number
  readonly used: number
}

/** What a caller is told of a window with the length `length` at the time `now`. */
export function verdictOf(
  window: Window,
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
    // A window that another node has opened may begin a little later by this one's clock.
    resetsIn: Math.max(1, Math.ceil(Math.min(window.endsAt - now, length) / 1000)),
  }
}

interface KeptWindow extends Window {
  used: number
  unsaved: boolean
}

/**
 * For a node alone: windows are kept in memory and written by `flush`, so that a restart does not forget them. Takes
 * and gives back without the database.
 */
export async function createRateLimits(db: Db, clock: Clock): Promise<RateLimits> {
  const windows = new Map<string, KeptWindow>()
  for (const row of await listWindows(db)) {
    windows.set(row.subject, { openedAt: row.opened_at, endsAt: row.ends_at, used: row.used, unsaved: false })
  }

  // A window that seems to open in the future was counted by a clock that was wrong.
  const isOver = (window: Window, now: number) => now >= window.endsAt || now < window.openedAt

  return {
    async take(subject, amount, limit, length) {
      const now = clock.now()
      const present = windows.get(subject)
      const window =
        present === undefined || isOver(present, now)
          ? { openedAt: now, endsAt: now + length, used: 0, unsaved: false }
          : present
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
      await db.transaction().execute(async (trx) => {
        for (const [subject] of over) await dropWindow(trx, subject)
        for (const [subject, { openedAt: opened_at, endsAt: ends_at }, used] of changed) {
          await saveWindow(trx, { subject, opened_at, ends_at, used })
        }
      })
      for (const [subject, window] of over) {
        // Another one may have opened meanwhile.
        if (windows.get(subject) === window) windows.delete(subject)
      }
      for (const [, window, used] of changed) window.unsaved = window.used !== used
    },
  }
}

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

/**
 * Counts what subjects use in windows that open with the first use. What is refused is not counted.
 * Windows are kept in memory and written by `flush`, so that a restart does not forget them.
 */
export interface RateLimits {
  take(subject: string, amount: number, limit: number, length: number): Verdict
  /** Takes back what turned out not to be used, unless the window that it was counted in is over. */
  giveBack(subject: string, amount: number, openedAt: number): void
  flush(): Promise<void>
}

interface Window {
  openedAt: number
  endsAt: number
  used: number
  unsaved: boolean
}

export async function createRateLimits(db: Db, clock: Clock): Promise<RateLimits> {
  const windows = new Map<string, Window>()
  for (const row of await listWindows(db)) {
    windows.set(row.subject, { openedAt: row.opened_at, endsAt: row.ends_at, used: row.used, unsaved: false })
  }

  // A window that seems to open in the future was counted by a clock that was wrong.
  const isOver = (window: Window, now: number) => now >= window.endsAt || now < window.openedAt

  return {
    take(subject, amount, limit, length) {
      const now = clock.now()
      let window = windows.get(subject)
      if (window === undefined || isOver(window, now)) {
        window = { openedAt: now, endsAt: now + length, used: 0, unsaved: true }
        windows.set(subject, window)
      }
      const allowed = window.used + amount <= limit
      if (allowed) {
        window.used += amount
        window.unsaved = true
      }
      return {
        allowed,
        limit,
        remaining: Math.max(0, limit - window.used),
        openedAt: window.openedAt,
        resetsIn: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
      }
    },

    giveBack(subject, amount, openedAt) {
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

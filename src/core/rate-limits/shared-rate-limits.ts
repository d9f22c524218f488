import type { Database } from '../../database/database.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import { type RateLimits, type RateWindow, verdictOf } from './rate-limits.ts'
import type { WindowRow } from './rate-windows.rows.ts'
import { dropWindowsOver, findWindow, giveBackToWindow, takeFromWindow } from './shared-rate-windows.rows.ts'

/**
 * Tolerated difference between the clocks of two nodes. Another node may open a window slightly in this one's
 * future, and even on one machine a take may read the time before the window opens and reach the database
 * after it.
 */
const CLOCKS_DIFFER = MINUTE

/** Windows dropped per statement. */
const STEP = 1000

interface GivenBack {
  readonly subject: string
  readonly amount: number
  readonly openedAt: number
}

/**
 * Rate limits for nodes that share a PostgreSQL: each take is one atomic statement there, and no node caches
 * windows.
 */
export function createSharedRateLimits(db: Database, clock: Clock): RateLimits {
  /** Returns that failed and will be retried. */
  const owed: GivenBack[] = []

  async function giveBack(back: GivenBack): Promise<void> {
    try {
      await giveBackToWindow(db, back.subject, back.amount, back.openedAt)
    } catch (error) {
      owed.push(back)
      throw error
    }
  }

  /** The window in force, or the one that a take would open. */
  function windowAt(
    now: number,
    found: Pick<WindowRow, 'opened_at' | 'ends_at' | 'used'> | undefined,
    length: number,
  ): RateWindow {
    const isOpen = found !== undefined && now < found.ends_at && found.opened_at <= now + CLOCKS_DIFFER
    return isOpen
      ? { openedAt: found.opened_at, endsAt: found.ends_at, used: found.used }
      : { openedAt: now, endsAt: now + length, used: 0 }
  }

  return {
    async look(subject, amount, limit, length) {
      const now = clock.now()
      const window = windowAt(now, await findWindow(db, subject), length)
      return verdictOf(window, window.used + amount <= limit, limit, length, now)
    },

    async take(subject, amount, limit, length) {
      // A refusal that contradicts the returned window is retried: another node has changed the window
      // meanwhile.
      for (;;) {
        const now = clock.now()
        const fresh = { subject, opened_at: now, ends_at: now + length, used: amount }
        const found = await takeFromWindow(db, fresh, limit, now + CLOCKS_DIFFER)
        const window = windowAt(now, found, length)
        const allowed = found?.taken === true
        if (allowed || window.used + amount > limit) return verdictOf(window, allowed, limit, length, now)
      }
    },

    async giveBack(subject, amount, openedAt) {
      // `flush` retries and reports a failure.
      await giveBack({ subject, amount, openedAt }).catch(() => {})
    },

    async flush() {
      for (let back = owed.shift(); back !== undefined; back = owed.shift()) await giveBack(back)
      while ((await dropWindowsOver(db, clock.now() - CLOCKS_DIFFER, STEP)) === STEP) {}
    },
  }
}

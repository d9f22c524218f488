import type { Db } from '../database/schema.ts'
import { dropWindowsOver, giveBackToWindow, takeFromWindow } from '../database/shared-rate-windows.ts'
import { type Clock, MINUTE } from '../domain/clock.ts'
import { type RateLimits, verdictOf, type Window } from './rate-limits.ts'

/**
 * How far the clocks of two nodes may be apart. Another node opens a window a little in this one's future, and even on
 * one machine a take may look at the time before the window opens and reach the database after it.
 */
const CLOCKS_DIFFER = MINUTE

/** How many windows one statement drops. */
const STEP = 1000

interface GivenBack {
  readonly subject: string
  readonly amount: number
  readonly openedAt: number
}

/** For nodes that share a PostgreSQL: each take is one atomic statement there, and no node keeps a window. */
export function createSharedRateLimits(db: Db, clock: Clock): RateLimits {
  /** What the database could not take back yet. */
  const owed: GivenBack[] = []

  async function giveBack(back: GivenBack): Promise<void> {
    try {
      await giveBackToWindow(db, back.subject, back.amount, back.openedAt)
    } catch (error) {
      owed.push(back)
      throw error
    }
  }

  return {
    async take(subject, amount, limit, length) {
      // A refusal that the window told of does not bear out is decided again: somebody else has changed the window.
      for (;;) {
        const now = clock.now()
        const fresh = { subject, opened_at: now, ends_at: now + length, used: amount }
        const latestOpening = now + CLOCKS_DIFFER
        const found = await takeFromWindow(db, fresh, limit, latestOpening)
        const isOpen = found !== undefined && now < found.ends_at && found.opened_at <= latestOpening
        const window: Window = isOpen
          ? { openedAt: found.opened_at, endsAt: found.ends_at, used: found.used }
          : { openedAt: now, endsAt: now + length, used: 0 }
        const allowed = found?.taken === true
        if (allowed || window.used + amount > limit) return verdictOf(window, allowed, limit, length, now)
      }
    },

    async giveBack(subject, amount, openedAt) {
      // A failure is `flush`'s to tell, when it tries again.
      await giveBack({ subject, amount, openedAt }).catch(() => {})
    },

    async flush() {
      for (let back = owed.shift(); back !== undefined; back = owed.shift()) await giveBack(back)
      while ((await dropWindowsOver(db, clock.now() - CLOCKS_DIFFER, STEP)) === STEP) {}
    },
  }
}

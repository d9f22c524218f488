import { Batcher } from '../../database/batcher.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts'
import { PendingTakes } from './pending-takes.ts'
import { type RateLimits, type RateWindow, type Verdict, verdictOf } from './rate-limits.ts'
import type { WindowRow } from './rate-windows.rows.ts'
import {
  dropWindowsOver,
  findWindow,
  giveBackToWindow,
  takeFromWindows,
  type WindowAmount,
} from './shared-rate-windows.rows.ts'

/** Between nodes' clocks. Even on one machine a take may read the time before a window opens and arrive after. */
export const CLOCKS_DIFFER = MINUTE

const STEP = 1000
const DROP_EVERY = 10 * SECOND

interface GivenBack {
  readonly subject: string
  readonly amount: number
  readonly openedAt: number
}

/** For nodes that share a PostgreSQL: one atomic statement for a node's concurrent takes; no cache. */
export function createSharedRateLimits(db: Database, clock: Clock): RateLimits {
  const batchers = new Map<string, Batcher<WindowAmount, Verdict>>()
  const owed: GivenBack[] = []
  let droppedAt = Number.NEGATIVE_INFINITY

  async function giveBack(back: GivenBack): Promise<void> {
    try {
      await giveBackToWindow(db, back.subject, back.amount, back.openedAt)
    } catch (error) {
      owed.push(back)
      throw error
    }
  }

  function takesOn(limit: number, length: number): Batcher<WindowAmount, Verdict> {
    const terms = `${limit}/${length}`
    const present = batchers.get(terms)
    if (present !== undefined) return present
    const made = new Batcher((takes: readonly WindowAmount[]) => takeAll(db, clock, takes, limit, length))
    batchers.set(terms, made)
    return made
  }

  return {
    async look(subject, amount, limit, length) {
      const now = clock.now()
      const window = windowAt(now, await findWindow(db, subject), length)
      return verdictOf(window, window.used + amount <= limit, limit, length, now)
    },

    take: (subject, amount, limit, length) => takesOn(limit, length).ask({ subject, amount }),

    async giveBack(subject, amount, openedAt) {
      // `flush` retries and reports.
      await giveBack({ subject, amount, openedAt }).catch(() => {})
    },

    async flush() {
      for (let back = owed.shift(); back !== undefined; back = owed.shift()) await giveBack(back)
      if (clock.monotonic() - droppedAt < DROP_EVERY) return
      droppedAt = clock.monotonic()
      while ((await dropWindowsOver(db, clock.now() - CLOCKS_DIFFER, STEP)) === STEP) {}
    },
  }
}

async function takeAll(
  db: Database,
  clock: Clock,
  takes: readonly WindowAmount[],
  limit: number,
  length: number,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  let now = clock.now()
  const pending = new Map<string, PendingTakes<RateWindow>>()
  for (const [index, { subject, amount }] of takes.entries()) {
    const ofSubject =
      pending.get(subject) ??
      new PendingTakes<RateWindow>(limit, (decided, window, isAllowed) => {
        verdicts[decided] = verdictOf(window, isAllowed, limit, length, now)
      })
    ofSubject.add(index, amount)
    pending.set(subject, ofSubject)
  }
  // A refusal that contradicts the returned window is retried: another node changed the window meanwhile.
  while (pending.size > 0) {
    now = clock.now()
    const amounts = [...pending].map(([subject, left]) => ({ subject, amount: left.amount() }))
    const terms = { opensAt: now, endsAt: now + length, latestOpening: now + CLOCKS_DIFFER, limit }
    const found = await takeFromWindows(db, amounts, terms)
    for (const [subject, left] of pending) {
      const row = found.get(subject)
      const window = windowAt(now, row, length)
      if (row?.taken === true) left.taken(window)
      else left.refused(window)
      if (left.isDone()) pending.delete(subject)
    }
  }
  return verdicts
}

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

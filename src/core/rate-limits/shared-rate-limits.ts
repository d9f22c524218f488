import { Batcher } from '../../database/batcher.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts'
import { type RateLimits, type RateWindow, type Verdict, verdictOf } from './rate-limits.ts'
import {
  dropWindowsOver,
  findWindow,
  giveBackToWindow,
  takeFromWindows,
  type WindowAmount,
  type WindowRow,
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

interface PendingTake {
  readonly index: number
  readonly amount: number
}

/** Concurrent takes of one subject. One statement takes as many as fit together, all or none. */
class PendingTakes<Window extends { readonly used: number }> {
  readonly #limit: number
  readonly #decide: (index: number, window: Window, isAllowed: boolean) => void
  #left: PendingTake[] = []
  #next: PendingTake[] = []

  /** `decide` gets each take's index and the window after it. */
  constructor(limit: number, decide: (index: number, window: Window, isAllowed: boolean) => void) {
    this.#limit = limit
    this.#decide = decide
  }

  add(index: number, amount: number): void {
    this.#left.push({ index, amount })
    this.#next = this.#left
  }

  isDone(): boolean {
    return this.#left.length === 0
  }

  amount(): number {
    return this.#next.reduce((sum, { amount }) => sum + amount, 0)
  }

  /** `window`: after the take. */
  taken(window: Window): void {
    let used = window.used - this.amount()
    for (const { index, amount } of this.#next) {
      used += amount
      this.#decide(index, { ...window, used }, true)
    }
    const decided = new Set(this.#next)
    this.#left = this.#left.filter((take) => !decided.has(take))
    this.#planNext(window)
  }

  /** `window`: shortly before the refused take. What still fits is tried again. */
  refused(window: Window): void {
    this.#planNext(window)
  }

  #planNext(window: Window): void {
    const room = this.#limit - window.used
    this.#left = this.#left.filter(({ index, amount }) => {
      const mayFit = amount <= room
      if (!mayFit) this.#decide(index, window, false)
      return mayFit
    })
    let left = room
    this.#next = this.#left.filter(({ amount }) => {
      const fits = amount <= left
      if (fits) left -= amount
      return fits
    })
  }
}

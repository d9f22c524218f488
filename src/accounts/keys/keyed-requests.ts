import type { AccountCaller } from '../../core/callers.ts'
import { hashToken } from '../../core/hmac.ts'
import {
  type KeyRate,
  type KeyVerdict,
  nearerOf,
  type RateLimits,
  subjectOfKey,
  takeForKey,
  verdictOf,
} from '../../core/rate-limits/rate-limits.ts'
import { CLOCKS_DIFFER } from '../../core/rate-limits/shared-rate-limits.ts'
import { Batcher } from '../../database/batcher.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import type { Sha256 } from '../../domain/ids.ts'
import { type CountedKey, type CountedWindow, countKeyRequests } from './keyed-requests.rows.ts'
import { holderOf, unknownKey, usableCaller } from './keys.ts'

export interface KeyedRequests {
  /**
   * Counts the request unless the rate limit refuses it. Throws Refusal INVALID_API_KEY or ACCOUNT_DISABLED,
   * and then counts nothing.
   */
  admit(secret: string): Promise<{ readonly caller: AccountCaller; readonly verdict: KeyVerdict }>
}

interface Admission {
  readonly row: CountedKey | undefined
  /** Null where the request was not counted: the concurrent requests did not all fit into the windows. */
  readonly verdict: KeyVerdict | null
}

/**
 * For nodes that share a PostgreSQL: one statement serves concurrent requests. `db`: for commits without a
 * disk sync, as those of rate windows.
 */
export function createKeyedRequests(parts: {
  readonly db: Database
  readonly rates: RateLimits
  readonly clock: Clock
  readonly rate: KeyRate
}): KeyedRequests {
  const { db, rates, clock, rate } = parts
  const ceiling = rate.factor === 0 ? null : rate.limit * rate.factor

  async function admitAll(hashes: readonly Sha256[]): Promise<Admission[]> {
    const now = clock.now()
    const requests = new Map<Sha256, number>()
    for (const hash of hashes) requests.set(hash, (requests.get(hash) ?? 0) + 1)
    const asked = [...requests].map(([hash, count]) => ({ hash, requests: count }))
    const terms = { now, endsAt: now + HOUR, latestOpening: now + CLOCKS_DIFFER, limit: rate.limit, ceiling }
    const rows = await countKeyRequests(db, asked, terms)
    for (const { key, hash, own, all } of rows) {
      const isRefused = own !== null && all === null && ceiling !== null
      if (isRefused) await rates.giveBack(subjectOfKey(key), requests.get(hash) ?? 0, own.openedAt)
    }
    return admissions(hashes, rows, now)
  }

  /** In order, so that each request's verdict counts its predecessors. */
  function admissions(hashes: readonly Sha256[], rows: readonly CountedKey[], now: number): Admission[] {
    const found = new Map(rows.map((row) => [row.hash, row]))
    const counted = hashes.flatMap((hash) => found.get(hash) ?? []).filter((row) => row.own !== null)
    const ownUse = new UseInOrder(counted.map(({ key }) => key))
    const allUse = new UseInOrder(counted.map(({ account }) => account))
    return hashes.map((hash) => {
      const row = found.get(hash)
      if (row === undefined || row.own === null) return { row, verdict: null }
      const own = verdictOf(ownUse.next(row.key, row.own), true, rate.limit, HOUR, now)
      if (ceiling === null) return { row, verdict: { ...own, ceiling } }
      if (row.all === null) return { row, verdict: null }
      const all = verdictOf(allUse.next(row.account, row.all), true, ceiling, HOUR, now)
      return { row, verdict: nearerOf(own, all) }
    })
  }

  const batcher = new Batcher(admitAll)
  return {
    async admit(secret) {
      const { row, verdict } = await batcher.ask(hashToken(secret))
      if (row === undefined) throw unknownKey()
      const caller = usableCaller(holderOf(row), clock.now())
      // Singly, which decides exactly which requests still fit.
      return { caller, verdict: verdict ?? (await takeForKey(rates, row, 1, rate)) }
    },
  }
}

class UseInOrder<Subject> {
  readonly #left = new Map<Subject, number>()

  constructor(subjects: readonly Subject[]) {
    for (const subject of subjects) this.#left.set(subject, (this.#left.get(subject) ?? 0) + 1)
  }

  next(subject: Subject, window: CountedWindow): CountedWindow {
    const left = (this.#left.get(subject) ?? 1) - 1
    this.#left.set(subject, left)
    return { ...window, used: window.used - left }
  }
}

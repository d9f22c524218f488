import type { AccountCaller } from '../../core/callers.ts'
import {
  type KeyRate,
  type KeyVerdict,
  nearerOf,
  subjectOfKey,
  takeForKey,
} from '../../core/rate-limits/key-rates.ts'
import { type RateLimits, verdictOf } from '../../core/rate-limits/rate-limits.ts'
import { CLOCKS_DIFFER } from '../../core/rate-limits/shared-rate-limits.ts'
import { hashToken } from '../../core/token-hash.ts'
import { Batcher } from '../../database/batcher.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import type { Sha256 } from '../../domain/ids.ts'
import { holderOf, unknownKey, usableCaller } from './key-holders.ts'
import { type CountedKey, type CountedWindow, countKeyRequests } from './keyed-requests.rows.ts'

/** Authenticates requests by their keys, and counts them. */
export interface KeyedRequests {
  /**
   * The caller, and whether the rate limit allows this request; counted unless not. Throws Refusal INVALID_API_KEY or
   * ACCOUNT_DISABLED, and then counts nothing.
   */
  admit(secret: string): Promise<{ readonly caller: AccountCaller; readonly verdict: KeyVerdict }>
}

interface Admission {
  /** Undefined for a key that is unknown or was revoked. */
  readonly row: CountedKey | undefined
  /** Null where the request was not counted: not all that came at once fit into the windows. */
  readonly verdict: KeyVerdict | null
}

/**
 * For nodes that share a PostgreSQL: one statement finds the keys of the requests that come at once and counts them.
 * `db`: for commits that wait for no disk, as those of rate windows.
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

  /** In their order, so that each is told what the ones before it have left. */
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
      // One by one, which decides exactly which of them still fit.
      return { caller, verdict: verdict ?? (await takeForKey(rates, row, 1, rate)) }
    },
  }
}

/** Windows as each of the requests that were counted together has left them. */
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

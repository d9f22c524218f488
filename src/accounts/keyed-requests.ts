import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import { hashToken } from '../core/hmac.ts'
import {
  type KeyRate,
  type KeyVerdict,
  nearerOf,
  subjectOfKey,
  takeForKey,
  verdictOf,
} from '../core/rate-limits/rate-limits.ts'
import { CLOCKS_DIFFER } from '../core/rate-limits/shared-rate-limits.ts'
import { ontoPresent } from '../core/rate-limits/shared-rate-windows.rows.ts'
import { Batcher } from '../database/batcher.ts'
import type { Database } from '../database/database.ts'
import { preparedChange } from '../database/prepared.ts'
import { HOUR } from '../domain/clock.ts'
import type { Sha256 } from '../domain/ids.ts'
import { type AdmittedKey, holderOf, type KeyHolder, unknownKey, usableCaller } from './authentication.ts'

interface Admission {
  readonly row: CountedKey | undefined
  /** Null where the request was not counted: the concurrent requests did not all fit into the windows. */
  readonly verdict: KeyVerdict | null
}

/**
 * For nodes that share a PostgreSQL: one statement serves concurrent requests. `db`: for commits without a
 * disk sync, as those of rate windows.
 */
export function createKeyedRequests({
  db,
  rates,
  clock,
  rate,
}: Pick<Core, 'db' | 'rates' | 'clock'> & {
  readonly rate: KeyRate
}) {
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
    /**
     * Counts the request unless the rate limit refuses it. Throws Refusal INVALID_API_KEY or ACCOUNT_DISABLED,
     * and then counts nothing.
     */
    async admit(secret: string): Promise<AdmittedKey> {
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

/** Looks up and counts keys in one statement: PostgreSQL only. */

export interface KeyRequests {
  readonly hash: Sha256
  readonly requests: number
}

export interface KeyTerms {
  readonly now: number
  readonly endsAt: number
  /** Windows that opened later come from a wrong clock. */
  readonly latestOpening: number
  readonly limit: number
  /** For all keys of an account together; null for unlimited. */
  readonly ceiling: number | null
}

export interface CountedKey extends KeyHolder {
  readonly hash: Sha256
  /** Null when the window lacks room for all requests, or the key cannot be used. */
  readonly own: CountedWindow | null
  /** Null when the account's window lacks room, or there is none; then only `own` has counted. */
  readonly all: CountedWindow | null
}

export interface CountedWindow {
  readonly openedAt: number
  readonly endsAt: number
  readonly used: number
}

/**
 * Finds the holders of distinct keys, and counts each key's requests in its own window and then in its
 * account's; in the latter, all requests or none.
 */
export async function countKeyRequests(
  db: Database,
  asked: readonly KeyRequests[],
  { now, endsAt, latestOpening, limit, ceiling }: KeyTerms,
): Promise<CountedKey[]> {
  const hashes = asked.map(({ hash }) => hash)
  const requests = asked.map((one) => one.requests)
  const { rows } = await count(db, hashes, requests, now, endsAt, latestOpening, limit, ceiling)
  return rows
}

// Every statement that locks several windows locks those of keys before those of accounts: "key:" before
// "keys-of:".
const count = preparedChange(
  (
    db: Database,
    hashes: readonly string[],
    requests: readonly number[],
    now: number,
    endsAt: number,
    latestOpening: number,
    limit: number,
    ceiling: number | null,
  ) => ({
    compile: () =>
      sql<CountedKey>`
        with wanted as (
          select * from unnest(cast(${hashes} as text[]), cast(${requests} as bigint[])) as wanted (hash, requests)
        ),
        terms (now, ends_at, latest, most, ceiling) as (
          values (
            cast(${now} as bigint), cast(${endsAt} as bigint), cast(${latestOpening} as bigint),
            cast(${limit} as bigint), cast(${ceiling} as bigint)
          )
        ),
        holder as materialized (
          select api_keys.id as key, api_keys.hash, api_keys.account_id as account, accounts.username,
            accounts.disabled_at, api_keys.scopes, api_keys.folder, api_keys.expires_at, wanted.requests,
            'key:' || api_keys.id as subject, 'keys-of:' || api_keys.account_id as subject_of_all
          from wanted
            join api_keys on api_keys.hash = wanted.hash
            join accounts on accounts.id = api_keys.account_id
          where api_keys.revoked_at is null
        ),
        own as (
          insert into rate_windows as present (subject, opened_at, ends_at, used)
          select holder.subject, terms.now, terms.ends_at, holder.requests from holder, terms
          where holder.disabled_at is null and (holder.expires_at is null or holder.expires_at > terms.now)
            and holder.requests <= terms.most
          order by holder.subject
          ${ontoPresent(sql`most`)}
          returning *
        ),
        together as (
          select holder.subject_of_all as subject, cast(sum(holder.requests) as bigint) as requests
          from holder join own on own.subject = holder.subject
          group by holder.subject_of_all
        ),
        "all" as (
          insert into rate_windows as present (subject, opened_at, ends_at, used)
          select together.subject, terms.now, terms.ends_at, together.requests from together, terms
          where together.requests <= terms.ceiling
          order by together.subject
          ${ontoPresent(sql`ceiling`)}
          returning *
        )
        select holder.key, holder.hash, holder.account, holder.username, holder.disabled_at, holder.scopes,
          holder.folder, holder.expires_at,
          case when own.subject is not null then json_build_object(
            'openedAt', own.opened_at, 'endsAt', own.ends_at, 'used', own.used
          ) end as own,
          case when "all".subject is not null then json_build_object(
            'openedAt', "all".opened_at, 'endsAt', "all".ends_at, 'used', "all".used
          ) end as "all"
        from holder
          left join own on own.subject = holder.subject
          left join "all" on "all".subject = holder.subject_of_all`.compile(db),
  }),
)

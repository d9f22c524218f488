import { committedVersion } from '../database/api-keys.ts'
import { type ChangeRow, changesAfter, forgottenChanges, lastChange } from '../database/changes.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, ChangeId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { keptWatcher } from './kept-watcher.ts'
import { createWatcher, type OwnWatcher, type Watcher } from './watcher.ts'

/** Tells those who watch an account what changes in it within their reach, by whatever node. */
export interface Watching {
  /**
   * Watches from the change `after` on, or from now. `isAllowed` is asked again and again; once it says no, or fails,
   * the watching ends. Throws Refusal RATE_LIMITED when the account is watched by too many.
   */
  watch(reach: Reach, after: ChangeId | null, isAllowed: () => Promise<boolean>): Promise<Watcher>
  /** Ends all watching, and lets nobody begin. */
  stop(): void
}

/** Milliseconds between two looks, while somebody watches. */
const LOOK = SECOND / 2
/** Changes are kept for longer than twice this, so whoever has looked since then has missed none. */
const SURE_FOR = 4 * MINUTE
/** How often a watcher is asked whether it still may. */
const ASK = 5 * SECOND
const ASKED_AT_ONCE = 8
/** Accounts, and changes, of one query. */
const ACCOUNTS = 500
const CHANGES = 1000
const MOST_WATCHERS = 100
const TRY_AGAIN = 30

interface Watched {
  /** The last change that was told. */
  after: ChangeId
  readonly watchers: Set<OwnWatcher>
}

export function createWatching(db: Db, clock: Clock, report: (error: unknown) => void): Watching {
  const accounts = new Map<AccountId, Watched>()
  let timer: Timer | null = null
  let stopped = false
  let lookedAt = 0
  let askedAt = 0
  let version: number | null = null
  /** How many have joined so far. */
  let joined = 0
  let isFailing = false

  const watchers = () => [...accounts.values()].flatMap((watched) => [...watched.watchers])

  function schedule(): void {
    if (stopped || timer !== null || accounts.size === 0) return
    timer = setTimeout(async () => {
      await round()
      timer = null
      schedule()
    }, LOOK)
  }

  async function round(): Promise<void> {
    try {
      await look()
      isFailing = false
    } catch (error) {
      if (!isFailing) report(error)
      isFailing = true
    }
    for (const watcher of watchers()) watcher.beat(clock.monotonic())
    if (clock.monotonic() - askedAt < ASK) return
    askedAt = clock.monotonic()
    const all = watchers()
    for (let at = 0; at < all.length; at += ASKED_AT_ONCE) {
      await Promise.all(all.slice(at, at + ASKED_AT_ONCE).map((watcher) => watcher.ask()))
    }
  }

  async function look(): Promise<void> {
    const began = clock.monotonic()
    const present = committedVersion(db)
    if (present !== null && present === version) {
      lookedAt = began
      return
    }
    if (began - lookedAt > SURE_FOR) await beginAnew()
    const known = new Map([...accounts].map(([account, { after }]) => [account, after]))
    const asked = [...known].map(([account, after]) => ({ account, after }))
    const before = joined
    for (let at = 0; at < asked.length; at += ACCOUNTS) {
      const rows = await changesAfter(db, asked.slice(at, at + ACCOUNTS), CHANGES)
      for (const row of rows) tell(row, known)
      // What is left is asked for next time.
      if (rows.length === CHANGES) return
    }
    // Who has joined meanwhile may have missed what was not asked for.
    version = joined === before ? present : null
    lookedAt = began
  }

  /** Nobody has looked for so long that changes may be forgotten which were not told. */
  async function beginAnew(): Promise<void> {
    for (const [account, watched] of accounts) {
      watched.after = await lastChange(db, account)
      for (const watcher of watched.watchers) watcher.reload(watched.after)
    }
  }

  /** `known`: after which change of each account it was asked for. */
  function tell(row: ChangeRow, known: ReadonlyMap<AccountId, ChangeId>): void {
    const watched = accounts.get(row.account_id)
    const asked = known.get(row.account_id)
    if (watched === undefined || asked === undefined) return
    // Somebody has joined meanwhile who has missed more: the next look reads all of it, in order.
    if (watched.after < asked) return
    watched.after = row.id
    for (const watcher of watched.watchers) watcher.tell(row)
  }

  function add(account: AccountId, watcher: OwnWatcher, after: ChangeId): void {
    if (accounts.size === 0) lookedAt = clock.monotonic()
    const watched = accounts.get(account) ?? { after, watchers: new Set() }
    // What only this one has missed is read again, and the others know it.
    if (after < watched.after) watched.after = after
    watched.watchers.add(watcher)
    accounts.set(account, watched)
    joined += 1
    version = null
    schedule()
  }

  function remove(account: AccountId, watcher: OwnWatcher): void {
    const watched = accounts.get(account)
    watched?.watchers.delete(watcher)
    if (watched?.watchers.size === 0) accounts.delete(account)
  }

  return {
    async watch(reach, after, isAllowed) {
      const { account } = reach
      if (stopped) throw new Refusal('SHUTTING_DOWN', 'The server is restarting; try again', 5)
      if ((accounts.get(account)?.watchers.size ?? 0) >= MOST_WATCHERS) {
        throw new Refusal(
          'RATE_LIMITED',
          'Too many connections watch this account; close one of them first',
          TRY_AGAIN,
        )
      }
      const last = await lastChange(db, account)
      const forgotten = await forgottenChanges(db)
      const isKnown = after !== null && after >= forgotten && after <= last
      const from = isKnown ? after : last
      const watcher = createWatcher({
        clock,
        isAllowed,
        first: { kind: after === null || isKnown ? 'ready' : 'reload', at: from },
        onEnd: () => remove(account, watcher),
      })
      if (stopped) watcher.end()
      else add(account, watcher, from)
      return keptWatcher(db, reach, watcher)
    },

    stop() {
      stopped = true
      if (timer !== null) clearTimeout(timer)
      for (const watcher of watchers()) watcher.end()
    },
  }
}

import { type ChangeRow, changesAfter, forgottenChanges, lastChange } from '../core/changes.rows.ts'
import { findEvent } from '../core/link-events.rows.ts'
import type { Database } from '../database/database.ts'
import { type CancelTimer, type Clock, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, ChangeId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { restrictedWatcher } from './restricted-watcher.ts'
import { WatchedAccounts } from './watched-accounts.ts'
import { createWatcher, type OwnWatcher, type Watcher } from './watcher.ts'

const LOOK = SECOND / 2
/** Changes are kept more than twice as long, so a feed that has queried within it has missed none. */
const SURE_FOR = 4 * MINUTE
const ASK = 5 * SECOND
const ASKED_AT_ONCE = 8
const ACCOUNTS = 500
const CHANGES = 1000

/** Sends watchers of an account the changes within their reach, made by any node. */
export class ChangeFeed {
  readonly #db: Database
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #accounts: WatchedAccounts
  #cancelRound: CancelTimer | null = null
  #isStopped = false
  #lookedAt = 0
  #askedAt = 0
  /** Database version at the last complete query; null when the next one must read. */
  #version: number | null = null
  #isFailing = false

  constructor(db: Database, clock: Clock, report: (error: unknown) => void) {
    this.#db = db
    this.#clock = clock
    this.#accounts = new WatchedAccounts(clock)
    this.#report = report
  }

  /**
   * From the change `after` on, or from now. `isAllowed` is called repeatedly; false or an error ends the watcher.
   * Throws Refusal RATE_LIMITED when the account has too many watchers.
   */
  async watch(reach: Reach, after: ChangeId | null, isAllowed: () => Promise<boolean>): Promise<Watcher> {
    const { account } = reach
    if (this.#isStopped) throw new Refusal('SHUTTING_DOWN', 'The server is restarting; try again', 5)
    let isOver = false
    const end = () => {
      isOver = true
      watcher?.end()
    }
    let watcher: OwnWatcher | null = null
    const place = this.#accounts.takePlace(account, end)
    try {
      watcher = await this.#begin(account, after, isAllowed, () => place.end())
    } catch (error) {
      place.end()
      throw error
    }
    if (isOver) watcher.end()
    return restrictedWatcher(this.#db, reach, watcher)
  }

  async #begin(
    account: AccountId,
    after: ChangeId | null,
    isAllowed: () => Promise<boolean>,
    onEnd: () => void,
  ): Promise<OwnWatcher> {
    const last = await lastChange(this.#db, account)
    const forgotten = await forgottenChanges(this.#db)
    const isKnown = after !== null && after >= forgotten && after <= last
    const from = isKnown ? after : last
    const watcher = createWatcher({
      clock: this.#clock,
      isAllowed,
      first: { kind: after === null || isKnown ? 'ready' : 'reload', at: from },
      onEnd: () => {
        this.#accounts.remove(account, watcher)
        onEnd()
      },
    })
    if (this.#isStopped) watcher.end()
    else {
      if (this.#accounts.isEmpty()) this.#lookedAt = this.#clock.monotonic()
      this.#accounts.add(account, watcher, from)
      this.#version = null
      this.#schedule()
    }
    return watcher
  }

  /** Of a change of the kind `link`; undefined where the event is gone. */
  linkEvent({ event }: ChangeRow): ReturnType<typeof findEvent> {
    return event === null ? Promise.resolve(undefined) : findEvent(this.#db, event)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelRound?.()
    for (const watcher of this.#accounts.watchers()) watcher.end()
  }

  #schedule(): void {
    if (this.#isStopped || this.#cancelRound !== null || this.#accounts.isEmpty()) return
    this.#cancelRound = this.#clock.timers.after(LOOK, async () => {
      await this.#round()
      this.#cancelRound = null
      this.#schedule()
    })
  }

  async #round(): Promise<void> {
    try {
      await this.#look()
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#report(error)
      this.#isFailing = true
    }
    for (const watcher of this.#accounts.watchers()) watcher.beat(this.#clock.monotonic())
    if (this.#clock.monotonic() - this.#askedAt < ASK) return
    this.#askedAt = this.#clock.monotonic()
    const all = this.#accounts.watchers()
    for (let at = 0; at < all.length; at += ASKED_AT_ONCE) {
      await Promise.all(all.slice(at, at + ASKED_AT_ONCE).map((watcher) => watcher.ask()))
    }
  }

  async #look(): Promise<void> {
    const began = this.#clock.monotonic()
    const present = this.#db.read.version()
    if (present !== null && present === this.#version) {
      this.#lookedAt = began
      return
    }
    if (began - this.#lookedAt > SURE_FOR) await this.#reloadAll()
    const known = this.#accounts.positions()
    const asked = [...known].map(([account, after]) => ({ account, after }))
    const before = this.#accounts.joined
    for (let at = 0; at < asked.length; at += ACCOUNTS) {
      const rows = await changesAfter(this.#db, asked.slice(at, at + ACCOUNTS), CHANGES)
      await this.#db.durable()
      for (const row of rows) this.#accounts.tell(row, known)
      if (rows.length === CHANGES) return
    }
    // New watchers may have missed changes before this query.
    this.#version = this.#accounts.joined === before ? present : null
    this.#lookedAt = began
  }

  /** After so long without a query, unsent changes may have been deleted. */
  async #reloadAll(): Promise<void> {
    for (const account of this.#accounts.ids()) {
      this.#accounts.reload(account, await lastChange(this.#db, account))
    }
  }
}

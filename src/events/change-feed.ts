import { type ChangeRow, changesAfter, forgottenChanges, lastChange } from '../core/changes.rows.ts'
import { findEvent } from '../core/link-events.rows.ts'
import { accountAsHolder, type Holding, type SharedCeiling, Shares } from '../core/shares.ts'
import type { Database } from '../database/database.ts'
import type { Reach } from '../domain/access.ts'
import { type CancelTimer, type Clock, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { ChangeKind } from '../domain/event-kinds.ts'
import type { AccountId, ChangeId, FolderPlace } from '../domain/ids.ts'
import { folderIdOf } from '../files/folders/folders.rows.ts'
import { wasWithin } from '../files/folders/places.ts'
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

/** For callers restricted to one folder: only changes in it or below it, by the folder's place when they are sent. */
function restrictedWatcher(db: Database, reach: Reach, watcher: Watcher): Watcher {
  if (reach.within === null) return watcher
  return {
    async next() {
      try {
        for (;;) {
          const told = await watcher.next()
          if (told?.kind !== 'change') return told
          const change = await changeAsSeen(db, reach, told.change)
          if (change !== null) return { ...told, change }
        }
      } catch (error) {
        watcher.end()
        throw error
      }
    },

    end: () => watcher.end(),
  }
}

/** Null outside the folder. Entries moved in from outside appear as new, entries moved out as removed. */
async function changeAsSeen(db: Database, reach: Reach, change: ChangeRow): Promise<ChangeRow | null> {
  const { kind, place, from_place: from } = change
  // A link may open more than that folder.
  if (change.kind === 'link') return null
  if (change.folder === reach.within) {
    // Its own place belongs to its parent.
    return kind === 'folder.moved' ? null : { ...change, place: null, from_place: null }
  }
  const isHere = await isPlaceWithin(db, reach, place)
  if (kind !== 'file.moved' && kind !== 'folder.moved') return isHere ? change : null
  const wasHere = await isPlaceWithin(db, reach, from)
  if (isHere && wasHere) return change
  if (isHere) return { ...change, kind: ARRIVED[kind], from_place: null }
  return wasHere ? { ...change, kind: LEFT[kind], place: from, from_place: null } : null
}

type Moved = Extract<ChangeKind, 'file.moved' | 'folder.moved'>
const ARRIVED = { 'file.moved': 'file.added', 'folder.moved': 'folder.added' } as const satisfies Record<
  Moved,
  ChangeKind
>
const LEFT = { 'file.moved': 'file.removed', 'folder.moved': 'folder.removed' } as const satisfies Record<
  Moved,
  ChangeKind
>

async function isPlaceWithin(db: Database, reach: Reach, place: FolderPlace | null): Promise<boolean> {
  if (place === null || place === 'root') return false
  const folder = await folderIdOf(db, place)
  return folder !== undefined && wasWithin(db, reach, folder)
}

/** In this process; all have a key or a session. */
export const WATCHERS: SharedCeiling = {
  all: { holders: 2000, size: 0 },
  each: { holders: 100, size: 0 },
  kept: 0,
  idleAfter: MINUTE,
}

interface Watched {
  after: ChangeId
  readonly watchers: Set<OwnWatcher>
}

class WatchedAccounts {
  readonly #accounts = new Map<AccountId, Watched>()
  readonly #shares: Shares
  #joined = 0

  constructor(clock: Clock) {
    this.#shares = new Shares(clock, WATCHERS, {
      each: 'Too many connections watch this account; close one of them first',
      all: 'Too many connections watch this server; try again soon',
      retry: 30,
    })
  }

  get joined(): number {
    return this.#joined
  }

  isEmpty(): boolean {
    return this.#accounts.size === 0
  }

  ids(): AccountId[] {
    return [...this.#accounts.keys()]
  }

  watchers(): OwnWatcher[] {
    return [...this.#accounts.values()].flatMap(({ watchers }) => [...watchers])
  }

  positions(): Map<AccountId, ChangeId> {
    return new Map([...this.#accounts].map(([account, { after }]) => [account, after]))
  }

  /** `yielded`: called when the watcher must give way to another. Throws as `Shares.begin`. */
  takePlace(account: AccountId, yielded: () => void): Holding {
    return this.#shares.begin(accountAsHolder(account), 0, yielded)
  }

  add(account: AccountId, watcher: OwnWatcher, after: ChangeId): void {
    const watched = this.#accounts.get(account) ?? { after, watchers: new Set() }
    // Changes that only this watcher has missed are read again; the others skip them.
    if (after < watched.after) watched.after = after
    watched.watchers.add(watcher)
    this.#accounts.set(account, watched)
    this.#joined += 1
  }

  remove(account: AccountId, watcher: OwnWatcher): void {
    const watched = this.#accounts.get(account)
    watched?.watchers.delete(watcher)
    if (watched?.watchers.size === 0) this.#accounts.delete(account)
  }

  /** `known`: the change of each account after which this query read. */
  tell(row: ChangeRow, known: ReadonlyMap<AccountId, ChangeId>): void {
    const watched = this.#accounts.get(row.account_id)
    const asked = known.get(row.account_id)
    if (watched === undefined || asked === undefined) return
    // A new watcher has missed more: the next query reads all of it, in order.
    if (watched.after < asked) return
    watched.after = row.id
    for (const watcher of watched.watchers) watcher.tell(row)
  }

  reload(account: AccountId, at: ChangeId): void {
    const watched = this.#accounts.get(account)
    if (watched === undefined) return
    watched.after = at
    for (const watcher of watched.watchers) watcher.reload(at)
  }
}

import type { ChangeRow } from '../core/changes.rows.ts'
import { accountAsHolder, type Holding, type SharedCeiling, Shares } from '../core/shares.ts'
import { type Clock, MINUTE } from '../domain/clock.ts'
import type { AccountId, ChangeId } from '../domain/ids.ts'
import type { OwnWatcher } from './watcher.ts'

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

export class WatchedAccounts {
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

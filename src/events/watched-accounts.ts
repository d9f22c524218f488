import type { ChangeRow } from '../core/changes.rows.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, ChangeId } from '../domain/ids.ts'
import type { OwnWatcher } from './watcher.ts'

/** Watchers of one account, and of all together in this process. */
export const MOST_WATCHERS = 100
export const MOST_OF_ALL = 2000
const TRY_AGAIN = 30

interface Watched {
  /** The last change that was told. */
  after: ChangeId
  readonly watchers: Set<OwnWatcher>
}

/** Who watches which account, and what they were told. */
export class WatchedAccounts {
  readonly #accounts = new Map<AccountId, Watched>()
  #joined = 0

  /** How many watchers have joined so far. */
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

  /** The last change that was told, of every account. */
  positions(): Map<AccountId, ChangeId> {
    return new Map([...this.#accounts].map(([account, { after }]) => [account, after]))
  }

  /** Throws Refusal RATE_LIMITED when the account has too many watchers, SERVER_BUSY when all together have. */
  assertRoom(account: AccountId): void {
    if ((this.#accounts.get(account)?.watchers.size ?? 0) >= MOST_WATCHERS) {
      const message = 'Too many connections watch this account; close one of them first'
      throw new Refusal('RATE_LIMITED', message, TRY_AGAIN)
    }
    let all = 0
    for (const { watchers } of this.#accounts.values()) all += watchers.size
    if (all < MOST_OF_ALL) return
    throw new Refusal('SERVER_BUSY', 'Too many connections watch this server; try again soon', TRY_AGAIN)
  }

  add(account: AccountId, watcher: OwnWatcher, after: ChangeId): void {
    const watched = this.#accounts.get(account) ?? { after, watchers: new Set() }
    // What only this one has missed is read again, and the others know it.
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

  /** Tells the watchers of its account of a change. `known`: after which change of each account it was asked for. */
  tell(row: ChangeRow, known: ReadonlyMap<AccountId, ChangeId>): void {
    const watched = this.#accounts.get(row.account_id)
    const asked = known.get(row.account_id)
    if (watched === undefined || asked === undefined) return
    // Somebody has joined meanwhile who has missed more: the next look reads all of it, in order.
    if (watched.after < asked) return
    watched.after = row.id
    for (const watcher of watched.watchers) watcher.tell(row)
  }

  /** Tells the watchers of the account that changes up to `at` may have been missed. */
  reload(account: AccountId, at: ChangeId): void {
    const watched = this.#accounts.get(account)
    if (watched === undefined) return
    watched.after = at
    for (const watcher of watched.watchers) watcher.reload(at)
  }
}

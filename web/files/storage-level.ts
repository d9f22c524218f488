import type { Account } from '../../src/contract/account.ts'
import { isNearlyFull } from '../../src/domain/storage.ts'

/** How full the storage is, while it is nearly full. */
export class StorageLevel {
  readonly #fetchAccount: () => Promise<Account>
  readonly #listeners = new Set<() => void>()
  #shown: Account | null = null
  /** Answers come in any order: only the latest request's is shown. */
  readonly #turns = { asked: 0, shown: 0 }

  constructor(fetchAccount: () => Promise<Account>) {
    this.#fetchAccount = fetchAccount
  }

  readonly snapshot = (): Account | null => this.#shown

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  async look(): Promise<void> {
    this.#turns.asked += 1
    const turn = this.#turns.asked
    const account = await this.#fetchAccount().catch(() => null)
    if (account === null || turn < this.#turns.shown) return
    this.#turns.shown = turn
    this.#shown = isNearlyFull(account.storage_used, account.storage_limit) ? account : null
    for (const changed of this.#listeners) changed()
  }

  /** Asks only whether there is room again: the server notifies of the opposite. */
  async refresh(): Promise<void> {
    if (this.#shown !== null) await this.look()
  }
}

import type { Account } from '../../src/contract/account.ts'
import { isNearlyFull } from '../../src/domain/storage.ts'

/** How full the storage is, for as long as it is nearly full. */
export class StorageLevel {
  readonly #fetchAccount: () => Promise<Account>
  readonly #listeners = new Set<() => void>()
  #shown: Account | null = null

  constructor(fetchAccount: () => Promise<Account>) {
    this.#fetchAccount = fetchAccount
  }

  /** The account; null while there is room, or before that is known. */
  readonly snapshot = (): Account | null => this.#shown

  /** Returns what ends it. */
  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Asks the server. What cannot be had now stays as it is. */
  async look(): Promise<void> {
    const account = await this.#fetchAccount().catch(() => null)
    if (account === null) return
    this.#shown = isNearlyFull(account.storage_used, account.storage_limit) ? account : null
    for (const changed of this.#listeners) changed()
  }

  /** Asks only whether there is room again: the server tells when there is none any more. */
  async refresh(): Promise<void> {
    if (this.#shown !== null) await this.look()
  }
}

import type { Entry, Key } from './entry.ts'

/** An entry may be in several operations. */
export class BusyEntries {
  readonly #times = new Map<Key, number>()

  count(entries: readonly Entry[], by: 1 | -1): ReadonlySet<Key> {
    for (const { key } of entries) {
      const times = (this.#times.get(key) ?? 0) + by
      if (times > 0) this.#times.set(key, times)
      else this.#times.delete(key)
    }
    return new Set(this.#times.keys())
  }
}

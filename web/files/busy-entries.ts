import type { Entry, Key } from './entry.ts'

/** Entries that operations are under way with, which may be several for one. */
export class BusyEntries {
  readonly #times = new Map<Key, number>()

  /** Counts one operation more or less for each; returns those that any is left for. */
  count(entries: readonly Entry[], by: 1 | -1): ReadonlySet<Key> {
    for (const { key } of entries) {
      const times = (this.#times.get(key) ?? 0) + by
      if (times > 0) this.#times.set(key, times)
      else this.#times.delete(key)
    }
    return new Set(this.#times.keys())
  }
}

/** Runs the works of one key one after another, so that a link that is in demand holds one connection to the database. */
export class KeyedMutex<Key> {
  readonly #last = new Map<Key, Promise<void>>()

  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const over = result.then(
      () => {},
      () => {},
    )
    this.#last.set(key, over)
    over.then(() => {
      if (this.#last.get(key) === over) this.#last.delete(key)
    })
    return result
  }

  /** Resolves when all that was asked for until now is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}

/** Serializes work by key, so that a busy link holds one connection to the database. */
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

  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}

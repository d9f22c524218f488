import { connectionsEach } from '../../../src/client/policy/parts-policy.ts'

export class Connections {
  #files = 0
  readonly #listeners = new Set<() => void>()

  each(): number {
    return connectionsEach(this.#files)
  }

  /** Returns a function that ends the file. */
  begin(): () => void {
    let isUnderWay = true
    this.#change(1)
    return () => {
      if (isUnderWay) this.#change(-1)
      isUnderWay = false
    }
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  #change(by: 1 | -1): void {
    this.#files += by
    for (const changed of [...this.#listeners]) changed()
  }
}

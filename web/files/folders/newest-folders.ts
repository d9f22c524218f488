import type { FolderEntry } from '../entry.ts'

/** Drops answers that a later one has overtaken. */
export class NewestFolders {
  readonly #fetch: () => Promise<readonly FolderEntry[]>
  #asked = 0
  #answered = 0

  constructor(fetch: () => Promise<readonly FolderEntry[]>) {
    this.#fetch = fetch
  }

  async ask(): Promise<readonly FolderEntry[] | null> {
    this.#asked += 1
    const turn = this.#asked
    try {
      const folders = await this.#fetch()
      if (turn < this.#answered) return null
      this.#answered = turn
      return folders
    } catch (error) {
      if (turn < this.#answered) return null
      throw error
    }
  }
}

import type { FolderEntry } from '../entry.ts'

/** Asks for all folders, possibly while an earlier answer is still on its way. */
export class NewestFolders {
  readonly #fetch: () => Promise<readonly FolderEntry[]>
  #asked = 0
  #answered = 0

  constructor(fetch: () => Promise<readonly FolderEntry[]>) {
    this.#fetch = fetch
  }

  /** null when something that was asked for later came sooner. */
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

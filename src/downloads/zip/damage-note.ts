import { foldName } from '../../domain/folded-name.ts'
import type { ZipEntries } from './zip-entries.ts'
import { zipNames } from './zip-names.ts'

/** The name of the text, when nothing else at the top of the archive has it. */
const NAME = 'damaged files.txt'
/** No name at the top that takes more bytes can be one that the text would get. */
const LONGEST_RIVAL = 128
/** Beyond that nobody reads a list. */
const MOST_NAMED = 10_000

const WORDS = [
  'The server has lost bytes of these files, so this archive does not have them.',
  'Ask whoever shared them to upload them again.',
]

/** Names the damaged files that an archive leaves out. */
export class DamageNote {
  readonly #paths: string[] = []
  #more = 0
  #latest = 0

  get isEmpty(): boolean {
    return this.#paths.length === 0
  }

  /** When the newest of the files was uploaded. */
  get modifiedAt(): number {
    return this.#latest
  }

  add(path: () => string, createdAt: number): void {
    this.#latest = Math.max(this.#latest, createdAt)
    if (this.#paths.length < MOST_NAMED) this.#paths.push(path())
    else this.#more++
  }

  text(): Uint8Array {
    const more = this.#more > 0 ? ['', `and ${this.#more} more`] : []
    return Buffer.from([...WORDS, '', ...this.#paths, ...more, ''].join('\n'))
  }

  /** A name that no entry at the top of the archive has, also where upper and lower case are one. */
  nameBeside(entries: ZipEntries): string {
    const taken = new Set<string>()
    for (let entry = 0; entry < entries.count; entry++) {
      if (entries.pathLength(entry) > LONGEST_RIVAL) continue
      const name = Buffer.from(entries.at(entry).path).toString().replace(/\/$/, '')
      if (!name.includes('/')) taken.add(foldName(name))
    }
    const names = zipNames()
    for (;;) {
      const name = names.take(NAME)
      if (!taken.has(foldName(name))) return name
    }
  }
}

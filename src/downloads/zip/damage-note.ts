import { foldName } from '../../domain/folded-name.ts'
import type { ZipEntries } from './zip-entries.ts'
import { zipNames } from './zip-names.ts'

/** Numbered when taken at the top of the archive. */
const NAME = 'damaged files.txt'
/** Bytes of a name that could collide. */
const LONGEST_RIVAL = 128
const MOST_NAMED = 10_000

const WORDS = [
  'The server has lost bytes of these files, so this archive does not have them.',
  'Ask whoever shared them to upload them again.',
]

export class DamageNote {
  readonly #paths: string[] = []
  #more = 0
  #latest = 0

  get isEmpty(): boolean {
    return this.#paths.length === 0
  }

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

  /** Unlike all names at the top, regardless of case. */
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

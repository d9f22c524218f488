import type { BlobStore } from '../../blobs/blob-store.ts'
import { markDamaged, markVerified, type StoredCopy } from '../../core/damage.rows.ts'
import { assertOwnStore } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import type { Damage } from '../../database/schema.ts'
import type { Clock } from '../../domain/clock.ts'

/** `few`: nothing is marked when that would be more than one in a hundred contents. */
export type MarkLimit = 'none' | 'few' | 'many'

/** So many may always be marked: one in a hundred is nothing where there are few. */
const ALWAYS_ALLOWED = 10
const ONE_IN = 100

/** How many of so many contents count as few. */
export function mostMarked(contents: number): number {
  return Math.max(ALWAYS_ALLOWED, Math.floor(contents / ONE_IN))
}

export interface Marks {
  /** Contents that got a mark, and those that lost theirs because they are sound again. */
  readonly marked: number
  readonly cleared: number
  /** Contents that were to be marked and were not, because they are too many. */
  readonly refused: number
}

interface Found {
  readonly copy: StoredCopy
  readonly damage: Damage
}

/** A content that was looked at, with the mark that it had before. */
type Looked = StoredCopy & { readonly damage: Damage | null }

/**
 * Writes down what a look at the bytes has found. Before a mark is set the store has to show its own: a store that is not
 * there, or is another one, has lost nothing.
 */
export class DamageMarker {
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #clock: Clock
  readonly #limit: MarkLimit
  readonly #most: number
  /** Held back until all of them are known to be few. */
  #held: Found[] = []
  #refused = 0
  #marked = 0
  #cleared = 0

  /** `contents`: how many there are. */
  constructor(
    { db, blobs, clock }: { db: Database; blobs: BlobStore; clock: Clock },
    limit: MarkLimit,
    contents: number,
  ) {
    this.#db = db
    this.#blobs = blobs
    this.#clock = clock
    this.#limit = limit
    this.#most = mostMarked(contents)
  }

  /** The bytes were found damaged at two looks. Throws WrongStore, and what the store throws. */
  async found({ id, key, damage: before }: Looked, damage: Damage): Promise<void> {
    if (this.#limit === 'none') return
    const found = { copy: { id, key }, damage }
    // One that is marked already is not one more.
    if (this.#limit === 'many' || before !== null) return this.#mark([found], before === null)
    if (this.#refused > 0 || this.#held.length === this.#most) {
      this.#refused += this.#held.length + 1
      this.#held = []
      return
    }
    this.#held.push(found)
  }

  /** The bytes were read whole and have their hashes. */
  async sound(contents: readonly Looked[]): Promise<void> {
    if (this.#limit === 'none') return
    await markVerified(this.#db, contents, this.#clock.now())
    this.#cleared += contents.filter(({ damage }) => damage !== null).length
  }

  /** Throws WrongStore, and what the store throws. */
  async finish(): Promise<Marks> {
    await this.#mark(this.#held, true)
    this.#held = []
    return { marked: this.#marked, cleared: this.#cleared, refused: this.#refused }
  }

  async #mark(found: readonly Found[], isNew: boolean): Promise<void> {
    if (found.length > 0) await assertOwnStore(this.#db, this.#blobs)
    for (const { copy, damage } of found) {
      const isMarked = await markDamaged(this.#db, copy, damage, this.#clock.now())
      if (isMarked && isNew) this.#marked++
    }
  }
}

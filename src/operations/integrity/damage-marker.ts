import type { BlobStore } from '../../blobs/blob-store.ts'
import { markDamaged, markVerified, type StoredCopy } from '../../core/damage.rows.ts'
import { assertOwnStore } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import type { Damage } from '../../database/schema.ts'
import type { Clock } from '../../domain/clock.ts'

/** `few`: marks nothing when that would be more than one content in a hundred. */
export type MarkLimit = 'none' | 'few' | 'many'

const ALWAYS_ALLOWED = 10
const ONE_IN = 100

export function mostMarked(contents: number): number {
  return Math.max(ALWAYS_ALLOWED, Math.floor(contents / ONE_IN))
}

export interface Marks {
  readonly marked: number
  readonly cleared: number
  readonly refused: number
}

interface Found {
  readonly copy: StoredCopy
  readonly damage: Damage
}

type Looked = StoredCopy & { readonly damage: Damage | null }

/** Checks the store's own mark before marking: an unmounted or other store has lost nothing. */
export class DamageMarker {
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #clock: Clock
  readonly #limit: MarkLimit
  readonly #most: number
  #held: Found[] = []
  #refused = 0
  #marked = 0
  #cleared = 0

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

  /** Call after two looks agreed. Throws WrongStore, and what the store throws. */
  async found({ id, key, damage: before }: Looked, damage: Damage): Promise<void> {
    if (this.#limit === 'none') return
    const found = { copy: { id, key }, damage }
    // Contents marked before do not count towards the limit.
    if (this.#limit === 'many' || before !== null) return this.#mark([found], before === null)
    if (this.#refused > 0 || this.#held.length === this.#most) {
      this.#refused += this.#held.length + 1
      this.#held = []
      return
    }
    this.#held.push(found)
  }

  /** Call for contents read whole whose hashes match. */
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

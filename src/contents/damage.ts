/** What is done about a damaged content: it is marked, or repaired from a second copy. */
import { type BlobStore, StoreFailure } from '../blobs/blob-store.ts'
import { discardBlob, GARBAGE_GRACE, keepGarbage } from '../core/blobs.rows.ts'
import { countDamaged, markDamaged, markVerified, replaceCopy, type StoredCopy } from '../core/damage.rows.ts'
import { assertOwnStore } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import type { Damage } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import { contentTotals } from './contents.rows.ts'
import type { Throttle } from './pace.ts'
import { copyContent, type DamagedBlob, type StoredContent } from './reading.ts'

/** `few`: marks nothing when that would be more than one content in a hundred. */
export type MarkLimit = 'none' | 'few' | 'many'

const ALWAYS_ALLOWED = 10
const ONE_IN = 100

function mostMarked(contents: number): number {
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

interface OwnStore {
  readonly db: Database
  readonly blobs: BlobStore
  readonly clock: Pick<Clock, 'now'>
}

/** Checks the store's own mark before marking: an unmounted or other store has lost nothing. */
export class DamageMarker {
  readonly #own: OwnStore
  readonly #limit: MarkLimit
  readonly #most: number
  #held: Found[] = []
  #refused = 0
  #marked = 0
  #cleared = 0

  constructor(own: OwnStore, limit: MarkLimit, contents: number) {
    this.#own = own
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
    await markVerified(this.#own.db, contents, this.#own.clock.now())
    this.#cleared += contents.filter(({ damage }) => damage !== null).length
  }

  /** Throws WrongStore, and what the store throws. */
  async finish(): Promise<Marks> {
    await this.#mark(this.#held, true)
    this.#held = []
    return { marked: this.#marked, cleared: this.#cleared, refused: this.#refused }
  }

  async #mark(found: readonly Found[], isNew: boolean): Promise<void> {
    const { db, blobs, clock } = this.#own
    if (found.length > 0) await assertOwnStore(db, blobs)
    for (const { copy, damage } of found) {
      const isMarked = await markDamaged(db, copy, damage, clock.now())
      if (isMarked && isNew) this.#marked++
    }
  }
}

/** So much damage at once is more often a misconfiguration. */
export class TooMuchDamage extends Error {
  constructor() {
    super(
      'more than one in a hundred contents are damaged; no more are marked. Is the right store mounted? "holdfast check" names them, and with --mark-many marks them',
    )
  }
}

/** Throws TooMuchDamage, WrongStore, and what the store throws. */
export async function markFound(
  own: OwnStore & { readonly log: Log },
  { content, damage }: DamagedBlob,
): Promise<void> {
  const { db, log } = own
  const damaged = await countDamaged(db)
  // Counting all contents is slow: only where their number decides.
  const contents = damaged < ALWAYS_ALLOWED ? 0 : (await contentTotals(db)).count
  if (damaged >= mostMarked(contents)) throw new TooMuchDamage()
  const marking = new DamageMarker(own, 'few', contents)
  await marking.found(content, damage)
  const { marked } = await marking.finish()
  if (marked === 0) return
  const { key, files } = content
  log.error({ key, damage, files }, 'stored bytes are damaged; "holdfast check" names their files')
}

export interface RepairParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly random: Random
  /** Bytes. */
  readonly minFree: number
  readonly throttle?: Throttle | undefined
}

/** False where there is no second copy. */
export type RepairBlob = (parts: RepairParts, wrong: DamagedBlob) => Promise<boolean>

export interface SecondCopy {
  readonly from: Pick<BlobStore, 'read'>
  readonly fromKey: BlobKey
}

/**
 * Replaces damaged bytes by verified ones, as an upload of this content does: durable before the row points to them; a
 * kill leaves nothing behind. `gone`: the content was deleted, or uploaded again meanwhile. Otherwise the damage of the
 * second copy. Throws WrongStore, StoreFailure for a full disk, and what the stores throw.
 */
export async function repairFromCopy(
  { from, fromKey }: SecondCopy,
  content: StoredCopy & StoredContent,
  { db, blobs, clock, random, minFree, throttle }: RepairParts,
): Promise<'repaired' | 'gone' | Damage> {
  // A store that is not mounted has lost nothing, and must not be filled.
  await assertOwnStore(db, blobs)
  const free = await blobs.freeSpace()
  if (free !== null && free - content.size < minFree) {
    const cause = new Error('there is no room to bring a content back')
    throw new StoreFailure('full', { cause })
  }
  const key = makeBlobKey(random)
  await discardBlob(db, key, clock.now() + DAY)
  const damage = await copyContent(from, { ...content, key: fromKey }, blobs, key, { throttle })
  if (damage !== null) return damage
  const isReplaced = await inTransaction(db, async (trx) => {
    const now = clock.now()
    // After a day the garbage queue may have dropped the key.
    if (!(await keepGarbage(trx, key))) return false
    if (await replaceCopy(trx, content, key, now, now + GARBAGE_GRACE)) return true
    await discardBlob(trx, key, now)
    return false
  })
  return isReplaced ? 'repaired' : 'gone'
}

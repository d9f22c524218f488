import {
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  eachChunk,
  isUnreadable,
  StoreFailure,
} from '../blobs/blob-store.ts'
import { discardBlob, GARBAGE_GRACE, keepGarbage } from '../core/blobs.rows.ts'
import { markDamaged, markVerified, replaceCopy, type StoredCopy } from '../core/damage.rows.ts'
import { assertOwnStore } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import type { Damage } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { BlobKey, Sha256 } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { type Throttle, unthrottled } from './pace.ts'

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

export interface RepairParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly random: Random
  /** Bytes. */
  readonly minFree: number
  readonly throttle?: Throttle
}

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
  second: SecondCopy,
  content: StoredCopy & { readonly size: number; readonly sha256: Sha256 },
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
  const damage = await copyVerified({ ...content, ...second, to: blobs, toKey: key }, throttle)
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

interface ContentCopy {
  readonly from: Pick<BlobStore, 'read'>
  readonly fromKey: BlobKey
  readonly to: Pick<BlobStore, 'create'>
  /** A fresh key. */
  readonly toKey: BlobKey
  readonly size: number
  readonly sha256: Sha256
}

/**
 * Copies a content; durable when it returns. Returns the damage where the source's hash differs; then, and
 * after an error, no copy is left. Memory use is independent of the size.
 */
export async function copyVerified(
  copy: ContentCopy,
  throttle: Throttle = unthrottled,
): Promise<Damage | null> {
  const { from, fromKey, to, toKey, size, sha256 } = copy
  const hash = new Bun.CryptoHasher('sha256')
  let read = 0
  const writer = await to.create(toKey)
  try {
    for await (const chunk of eachChunk(await from.read(fromKey, 0, size, size))) {
      await throttle(chunk.length)
      hash.update(chunk)
      read += chunk.length
      await writer.write(chunk)
    }
    const damage = read === size ? (hash.digest('hex') === sha256 ? null : 'hash') : 'size'
    if (damage === null) await writer.complete()
    else await writer.abort()
    return damage
  } catch (error) {
    await writer.abort()
    if (error instanceof BlobMissing) return 'missing'
    if (error instanceof BlobDamaged) return 'size'
    // Writers throw StoreFailure; other read errors are damage of the source.
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

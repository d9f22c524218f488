/** Copies contents that the mirror does not have. */
import { type BlobStore, StoreFailure } from '../../blobs/blob-store.ts'
import { outageRefusal } from '../../core/failures.ts'
import { WrongStore } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, DAY, HOUR } from '../../domain/clock.ts'
import type { BlobId } from '../../domain/ids.ts'
import { makeBlobKey, type Random } from '../../domain/random.ts'
import { confirmed, type DamagedBlob } from '../integrity/inspection.ts'
import { findContent } from '../integrity/integrity.rows.ts'
import { readDamage } from '../integrity/reading.ts'
import type { Throttle } from '../integrity/throttle.ts'
import { copyVerified } from '../integrity/verified-copy.ts'
import {
  type Copied,
  type MirrorOrder,
  noteCopies,
  queueKeys,
  type UnmirroredContent,
  unmirroredContents,
} from './mirror.rows.ts'
import { type Mirror, MirrorUnusable } from './mirror-store.ts'

/** Contents that are queued and noted together: so many, and of so many bytes unless it is a single one. */
const BATCH = 50
const BATCH_BYTES = 16 * 1024 * 1024
/** Of a batch, copied side by side. */
const WIDTH = 8
/** A copy is noted only so long before its key is due in the queue. */
const NOTED_BEFORE = HOUR
/** Contents that cannot be copied, each for a reason of its own, after which a run ends. */
const MOST_FAILURES = 10

export interface MirrorCopyParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly mirror: Mirror
  readonly clock: Clock
  readonly random: Random
  readonly order: MirrorOrder
  /** Bytes that stay free on the disk of the mirror. */
  readonly minFree: number
  readonly throttle: Throttle
  readonly signal: AbortSignal
  /** Called with a content whose bytes in the first store are damaged, at two looks. */
  readonly onDamage: (wrong: DamagedBlob) => Promise<void>
  /** Called with a failure that concerns one content alone. */
  readonly onFailure: (error: unknown) => void
}

/** One run. What a killed one was copying is copied again by the next. */
export class MirrorCopier {
  readonly #parts: MirrorCopyParts
  /** Not tried again by this run. */
  readonly #left: BlobId[] = []

  constructor(parts: MirrorCopyParts) {
    this.#parts = parts
  }

  /**
   * Copies some contents, and returns how many have their copies now; null when nothing is left to copy. Throws the reason
   * of the signal, MirrorUnusable for a full mirror, and what the stores throw.
   */
  async copySome(): Promise<number | null> {
    const { db, mirror, clock, random, order } = this.#parts
    const batch = batchOf(await unmirroredContents(db, order, this.#left, BATCH))
    if (batch.length === 0) return null
    await this.#assertRoom(batch)
    const work = batch.map((content) => ({ content, key: makeBlobKey(random) }))
    const keys = work.map(({ key }) => key)
    await queueKeys(db, keys, clock.now() + DAY)
    const copied: Copied[] = []
    const note = async (done: readonly Copied[]) => {
      const number = await mirror.advance()
      return noteCopies(db, done, clock.now() + NOTED_BEFORE, (trx) => mirror.remember(trx, number))
    }
    const waiting = work.values()
    const lane = async () => {
      for (const { content, key } of waiting) {
        if (await this.#copyOne(content, key)) copied.push({ id: content.id, key })
      }
    }
    const lanes = await Promise.allSettled(Array.from({ length: WIDTH }, lane))
    // A folder that was unmounted meanwhile has them under its mount point.
    await mirror.assertOwn()
    const noted = copied.length === 0 ? 0 : await note(copied)
    for (const each of lanes) if (each.status === 'rejected') throw each.reason
    return noted
  }

  async #assertRoom(batch: readonly UnmirroredContent[]): Promise<void> {
    const { mirror, minFree } = this.#parts
    const free = await mirror.store.freeSpace()
    const bytes = batch.reduce((sum, { size }) => sum + size, 0)
    if (free === null || free - bytes >= minFree) return
    throw new MirrorUnusable('the disk of the mirror is full but for what HOLDFAST_MIN_FREE_SPACE keeps free')
  }

  /** False where it could not be copied, for a reason that concerns it alone. */
  async #copyOne(content: UnmirroredContent, key: Copied['key']): Promise<boolean> {
    const { blobs, mirror, throttle, signal, onFailure } = this.#parts
    signal.throwIfAborted()
    const copy = { ...content, from: blobs, fromKey: content.key, to: mirror.store, toKey: key }
    try {
      if ((await copyVerified(copy, throttle)) === null) return true
      await this.#damaged(content)
    } catch (error) {
      if (isReadOnly(error))
        throw new MirrorUnusable('the file system of the mirror is read-only', { cause: error })
      if (signal.aborted || isOutage(error) || this.#left.length >= MOST_FAILURES) throw error
      this.#left.push(content.id)
      onFailure(error)
    }
    return false
  }

  /** Throws for bytes that are sound at another look. */
  async #damaged({ id, key }: UnmirroredContent): Promise<void> {
    const { db, blobs, throttle, onDamage } = this.#parts
    const content = await findContent(db, id)
    if (content === undefined || content.key !== key) return
    const seen = await confirmed({ db, blobs }, content, (row) => readDamage(blobs, row, throttle))
    if (seen === null) return
    if (seen.damage === null) throw new Error(`content ${key} reads differently from one time to the next`)
    await onDamage({ ...seen, damage: seen.damage })
  }
}

/** Whether it concerns all contents. A disk that fails to read some sectors is broken for one content alone. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreFailure) return error.reason !== 'broken'
  return error instanceof WrongStore || outageRefusal(error) !== null
}

function isReadOnly(error: unknown): boolean {
  if (!(error instanceof StoreFailure && error.cause instanceof Error)) return false
  return 'code' in error.cause && error.cause.code === 'EROFS'
}

/** The first ones that go together. */
function batchOf(found: readonly UnmirroredContent[]): readonly UnmirroredContent[] {
  let bytes = 0
  const end = found.findIndex(({ size }, index) => {
    bytes += size
    return index > 0 && bytes > BATCH_BYTES
  })
  return end < 0 ? found : found.slice(0, end)
}

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
import { copyVerified } from '../integrity/repair-from-copy.ts'
import type { Throttle } from '../integrity/throttle.ts'
import {
  type Copied,
  type MirrorOrder,
  noteCopies,
  queueKeys,
  type UnmirroredContent,
  unmirroredContents,
} from './mirror.rows.ts'
import { type Mirror, MirrorUnusable } from './mirror-store.ts'

/** Contents queued and recorded together, and their bytes unless there is only one. */
const BATCH = 50
const BATCH_BYTES = 16 * 1024 * 1024
const WIDTH = 8
/** A copy is recorded only this long before its key is due for removal. */
const NOTED_BEFORE = HOUR
/** A run ends after so many failures that each concern one content alone. */
const MOST_FAILURES = 10

export interface MirrorCopyParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly mirror: Mirror
  readonly clock: Clock
  readonly random: Random
  readonly order: MirrorOrder
  /** Bytes. */
  readonly minFree: number
  readonly throttle: Throttle
  readonly signal: AbortSignal
  /** In the primary store, at two looks. */
  readonly onDamage: (wrong: DamagedBlob) => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** One run. The next run repeats the copies that a kill interrupted. */
export class MirrorCopier {
  readonly #parts: MirrorCopyParts
  readonly #left: BlobId[] = []

  constructor(parts: MirrorCopyParts) {
    this.#parts = parts
  }

  /** Null when nothing is left. Throws the signal's reason, MirrorUnusable for a full mirror, StoreFailure. */
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
    // If the folder was unmounted meanwhile, the copies lie under its mount point.
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

  /** Throws where the bytes are sound at a second look. */
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

/** Whether all contents are affected. Unreadable sectors affect one content alone. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreFailure) return error.reason !== 'broken'
  return error instanceof WrongStore || outageRefusal(error) !== null
}

function isReadOnly(error: unknown): boolean {
  if (!(error instanceof StoreFailure && error.cause instanceof Error)) return false
  return 'code' in error.cause && error.cause.code === 'EROFS'
}

function batchOf(found: readonly UnmirroredContent[]): readonly UnmirroredContent[] {
  let bytes = 0
  const end = found.findIndex(({ size }, index) => {
    bytes += size
    return index > 0 && bytes > BATCH_BYTES
  })
  return end < 0 ? found : found.slice(0, end)
}

import { type BlobStore, StoreFailure } from '../blobs/blob-store.ts'
import { generationsOf, isBehind } from '../core/store/generations.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../domain/clock.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { findContent } from './contents.rows.ts'
import {
  type Copied,
  dueKeys,
  forgetQueued,
  type MirroredContent,
  type MirrorOrder,
  mirroredAfter,
  noteCopies,
  oldestUnmirrored,
  postponeKeys,
  queueKeys,
  setTimes,
  type UnmirroredContent,
  unmirroredContents,
} from './mirror.rows.ts'
import { type Mirror, MirrorUnusable } from './mirror-place.ts'
import { type RepairResult, repairFromMirror } from './mirror-reading.ts'
import type { Throttle } from './pace.ts'
import { confirmed, copyContent, type DamagedBlob, isDamagedBlob, readDamage } from './reading.ts'
import { eachOf, inBatches, tolerance, WalkLeft, walk } from './walk.ts'

const BATCH = 50
const LOOKS_EVERY = MINUTE

export interface MirrorSync extends Omit<MirrorCopyParts, 'minFree'>, MirrorClearing {
  /** Bytes, on both disks. */
  readonly minFree: number
  readonly onRepaired: (key: BlobKey, result: RepairResult) => void
  readonly onCopied: (contents: number) => void
}

export async function needsMirrorSync(db: Database, clock: Pick<Clock, 'now'>): Promise<boolean> {
  await setTimes(db, clock.now() + DAY)
  if ((await oldestUnmirrored(db)) !== null) return true
  if ((await mirroredAfter(db, { after: null, onlyDamaged: true }, 1)).length > 0) return true
  return (await dueKeys(db, clock.now(), 1)).length > 0
}

/** Repairs, copies, removes; once. Throws the signal's reason, MirrorUnusable, and what the stores throw. */
export async function syncMirror(sync: MirrorSync): Promise<void> {
  const { clock, onCopied } = sync
  const copier = new MirrorCopier(sync)
  let looked = Number.NEGATIVE_INFINITY
  for (;;) {
    if (clock.timers.monotonic() - looked >= LOOKS_EVERY) {
      await repairAll(sync)
      looked = clock.timers.monotonic()
    }
    const copied = await copier.copySome()
    if (copied === null) break
    onCopied(copied)
  }
  await clearMirror(sync)
}

async function repairAll(sync: MirrorSync): Promise<void> {
  const { db, signal, onRepaired, onFailure } = sync
  const isTolerable = tolerance()
  const read = (last: MirroredContent | null) =>
    mirroredAfter(db, { after: last?.id ?? null, onlyDamaged: true }, BATCH)
  async function visit({ id, key }: MirroredContent, stop: AbortSignal): Promise<void> {
    try {
      onRepaired(key, await repairFromMirror(sync, id))
    } catch (error) {
      if (stop.aborted) throw error
      onFailure(error)
      if (!isTolerable(error, stop)) throw new WalkLeft()
    }
  }
  await walk({ contents: eachOf(inBatches(read)), signal, visit })
}

const CLEARED_AT_ONCE = 500
const TRIED_AGAIN_AFTER = HOUR

interface MirrorClearing {
  readonly db: Database
  readonly blobs: BlobStore
  readonly mirror: Mirror
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onFailure: (error: unknown) => void
}

/** Removes copies of contents deleted a day or more ago; none while the database is older than its store. */
async function clearMirror(clearing: MirrorClearing): Promise<void> {
  const { db, blobs, mirror, clock, signal, onFailure } = clearing
  await setTimes(db, clock.now() + DAY)
  for (;;) {
    signal.throwIfAborted()
    const keys = await dueKeys(db, clock.now(), CLEARED_AT_ONCE)
    if (keys.length === 0 || isBehind(await generationsOf(db, blobs))) return
    await mirror.assertOwn()
    const removed = await mirror.store.removeAll(keys, onFailure)
    if (removed.length > 0) {
      const number = await mirror.advance()
      await inTransaction(db, async (trx) => {
        await mirror.remember(trx, number)
        await forgetQueued(trx, removed)
      })
    }
    const gone = new Set(removed)
    const stuck = keys.filter((key) => !gone.has(key))
    await postponeKeys(db, stuck, clock.now() + TRIED_AGAIN_AFTER)
  }
}

/** Bytes copied and recorded together, unless there is only one content. */
const BATCH_BYTES = 16 * 1024 * 1024
const WIDTH = 8
/** A copy is recorded only this long before its key is due for removal. */
const NOTED_BEFORE = HOUR

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
  readonly #isTolerable = tolerance()

  constructor(parts: MirrorCopyParts) {
    this.#parts = parts
  }

  /** Null when nothing is left. Throws the signal's reason, MirrorUnusable for a full mirror, StoreFailure. */
  async copySome(): Promise<number | null> {
    const { db, mirror, clock, random, order, signal } = this.#parts
    const batch = batchOf(await unmirroredContents(db, order, this.#left, BATCH))
    if (batch.length === 0) return null
    await this.#assertRoom(batch)
    const work = batch.map((content) => ({ ...content, copy: makeBlobKey(random) }))
    const keys = work.map(({ copy }) => copy)
    await queueKeys(db, keys, clock.now() + DAY)
    const copied: Copied[] = []
    const visit = async ({ copy, ...content }: (typeof work)[number], stop: AbortSignal) => {
      if (await this.#copyOne(content, copy, stop)) copied.push({ id: content.id, key: copy })
    }
    const walked = walk({ contents: work, width: WIDTH, signal, visit })
    await walked.catch(() => {})
    // If the folder was unmounted meanwhile, the copies lie under its mount point.
    await mirror.assertOwn()
    const noted = copied.length === 0 ? 0 : await this.#note(copied)
    await walked
    return noted
  }

  async #note(copied: readonly Copied[]): Promise<number> {
    const { db, mirror, clock } = this.#parts
    const number = await mirror.advance()
    return noteCopies(db, copied, clock.now() + NOTED_BEFORE, (trx) => mirror.remember(trx, number))
  }

  async #assertRoom(batch: readonly UnmirroredContent[]): Promise<void> {
    const { mirror, minFree } = this.#parts
    const free = await mirror.store.freeSpace()
    const bytes = batch.reduce((sum, { size }) => sum + size, 0)
    if (free === null || free - bytes >= minFree) return
    throw new MirrorUnusable('the disk of the mirror is full but for what HOLDFAST_MIN_FREE_SPACE keeps free')
  }

  async #copyOne(content: UnmirroredContent, key: BlobKey, stop: AbortSignal): Promise<boolean> {
    const { blobs, mirror, throttle, onFailure } = this.#parts
    const reading = { throttle, signal: stop }
    try {
      if ((await copyContent(blobs, content, mirror.store, key, reading)) === null) return true
      await this.#damaged(content)
    } catch (error) {
      if (isReadOnly(error))
        throw new MirrorUnusable('the file system of the mirror is read-only', { cause: error })
      if (!this.#isTolerable(error, stop)) throw error
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
    const seen = await confirmed({ db, blobs }, content, (row) => readDamage(blobs, row, { throttle }))
    if (seen === null) return
    if (!isDamagedBlob(seen)) throw new Error(`content ${key} reads differently from one time to the next`)
    await onDamage(seen)
  }
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
